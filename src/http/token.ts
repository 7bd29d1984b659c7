import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Credentials, readLoginRequest } from '../auth/credentials.ts';
import type { LoginThrottle } from '../auth/throttle.ts';
import type { Tokens } from '../auth/token.ts';
import { type Answer, send } from './answer.ts';
import { readBody } from './body.ts';

/** The token endpoint, and the check in front of all others (specification, "Authentication"). */
export class TokenHandlers {
  readonly #tokens: Tokens;
  readonly #credentials: Credentials;
  readonly #throttle: LoginThrottle;
  readonly #bodyBytesMax: number;

  constructor(tokens: Tokens, credentials: Credentials, throttle: LoginThrottle, bodyBytesMax: number) {
    this.#tokens = tokens;
    this.#credentials = credentials;
    this.#throttle = throttle;
    this.#bodyBytesMax = bodyBytesMax;
  }

  /** POST /token */
  readonly issue = async (request: FastifyRequest, reply: FastifyReply): Promise<Answer> => {
    reply.header('cache-control', 'no-store');
    const secondsToWait = await this.#throttle.secondsToWait(request.ip);
    if (secondsToWait > 0) return tooManyRequests(reply, secondsToWait);
    const body = await readBody(request.raw, reply.raw, this.#bodyBytesMax);
    if (typeof body === 'string') return { outcome: body };
    const login = readLoginRequest(body);
    if (!login) return { outcome: 'invalidRequestPayload' };
    if (!this.#credentials.match(login)) {
      const secondsOverLimit = await this.#throttle.fail(request.ip);
      return secondsOverLimit > 0
        ? tooManyRequests(reply, secondsOverLimit)
        : { outcome: 'invalidCredentials' };
    }
    try {
      return { outcome: 'tokenGenerated', data: { token: await this.#tokens.issue() } };
    } catch (error) {
      request.log.error({ err: error }, 'a token could not be signed');
      return { outcome: 'tokenNotGenerated' };
    }
  };

  /** The hook in front of a protected endpoint: lets the request pass, or answers it. */
  readonly require = (request: FastifyRequest, reply: FastifyReply, pass: () => void): void => {
    reply.header('cache-control', 'private, no-cache');
    const token = request.headers.authorization;
    if (!token) {
      send(reply, { outcome: 'tokenRequired' });
      return;
    }
    const refuse = () => send(reply, { outcome: 'invalidToken' });
    const verdict = this.#tokens.verify(token);
    if (verdict === true) pass();
    else if (verdict === false) refuse();
    else void verdict.then((isValid) => (isValid ? pass() : refuse()));
  };
}

function tooManyRequests(reply: FastifyReply, seconds: number): Answer {
  reply.header('retry-after', seconds);
  return { outcome: 'tooManyRequests' };
}
