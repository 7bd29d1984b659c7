import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Credentials, readLoginRequest } from '../auth/credentials.ts';
import { addressOf, type LoginThrottle } from '../auth/throttle.ts';
import type { Tokens } from '../auth/tokens.ts';
import { type Answer, CACHE_CONTROL, send } from '../http/answer.ts';
import type { BodyReader } from '../http/body/body-reader.ts';
import { note, noteError } from '../http/request-log.ts';
import { describeError } from './errors.ts';

/** The token endpoint, and the check in front of all others (specification, "Authentication"). */
export class TokenHandlers {
  readonly #tokens: Tokens;
  readonly #credentials: Credentials;
  readonly #throttle: LoginThrottle;
  readonly #bodies: BodyReader;
  /** How many logins there were, by what came of them. */
  readonly logins = { succeeded: 0, failed: 0, throttled: 0 };

  constructor(tokens: Tokens, credentials: Credentials, throttle: LoginThrottle, bodies: BodyReader) {
    this.#tokens = tokens;
    this.#credentials = credentials;
    this.#throttle = throttle;
    this.#bodies = bodies;
  }

  /** POST /token */
  readonly issue = async (request: FastifyRequest, reply: FastifyReply): Promise<Answer> => {
    reply.header('cache-control', CACHE_CONTROL.withoutToken);
    // There is none where the client has gone already.
    const { ip = '' } = request as { ip?: string };
    const secondsToWait = this.#throttle.secondsToWait(ip);
    if (secondsToWait > 0) return this.#refuse(request, reply, ip, secondsToWait);
    const login = await this.#bodies.read(request.raw, reply.raw, readLoginRequest);
    if (typeof login === 'string') return { outcome: login };
    if (!login) return { outcome: 'invalidRequestPayload' };
    if (!this.#credentials.match(login)) {
      const secondsOverLimit = this.#throttle.fail(ip);
      if (secondsOverLimit > 0) return this.#refuse(request, reply, ip, secondsOverLimit);
      this.logins.failed++;
      note(request, 'warn', { client: addressOf(ip), msg: 'a login has failed' });
      return { outcome: 'invalidCredentials' };
    }
    try {
      const token = await this.#tokens.issue();
      this.logins.succeeded++;
      return { outcome: 'tokenGenerated', data: { token } };
    } catch (error) {
      noteError(request, describeError(error));
      return { outcome: 'tokenNotGenerated' };
    }
  };

  /** The hook in front of a protected endpoint: lets the request pass, or answers it. */
  readonly require = (request: FastifyRequest, reply: FastifyReply, pass: () => void): void => {
    reply.header('cache-control', CACHE_CONTROL.behindToken);
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

  #refuse(request: FastifyRequest, reply: FastifyReply, ip: string, seconds: number): Answer {
    this.logins.throttled++;
    note(request, 'warn', { client: addressOf(ip), msg: 'too many logins have failed' });
    reply.header('retry-after', seconds);
    return { outcome: 'tooManyRequests' };
  }
}
