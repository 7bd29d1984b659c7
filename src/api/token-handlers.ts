import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Credentials, readLoginRequest } from '../auth/credentials.ts';
import { addressOf, type LoginThrottle } from '../auth/throttle.ts';
import { TOKEN_LIFETIME_SECONDS, type Tokens, type TokenVerdict } from '../auth/tokens.ts';
import { type BodyRequest, parseBody } from '../http/body/body-reader.ts';
import { Rejection } from '../http/rejection.ts';
import { annotate, markReadOnly } from '../http/request-log.ts';
import { type HttpResult, send } from '../http/response.ts';
import { Invalid } from '../json/invalid.ts';
import { describeError } from './describe-error.ts';

/** Issues and verifies tokens (specification, "Authentication"). */
export class TokenHandlers {
  readonly #tokens: Tokens;
  readonly #credentials: Credentials;
  readonly #throttle: LoginThrottle;
  readonly logins = { succeeded: 0, failed: 0, throttled: 0 };

  constructor(tokens: Tokens, credentials: Credentials, throttle: LoginThrottle) {
    this.#tokens = tokens;
    this.#credentials = credentials;
    this.#throttle = throttle;
  }

  /** A hook of POST /token: whatever an address sends that has failed too often, it waits. */
  readonly rejectThrottled = (request: FastifyRequest, reply: FastifyReply, pass: () => void): void => {
    const ip = addressIn(request);
    const secondsToWait = this.#throttle.secondsToWait(ip);
    if (secondsToWait === 0) pass();
    else send(reply, this.#tooManyRequests(request, ip, secondsToWait));
  };

  /** POST /token */
  readonly issue = async (request: BodyRequest): Promise<HttpResult> => {
    const login = parseBody(request, readLoginRequest, 'invalidRequestPayload');
    if (login instanceof Rejection) return login;
    if (!this.#credentials.match(login)) {
      const ip = addressIn(request);
      const secondsOverLimit = this.#throttle.fail(ip);
      if (secondsOverLimit > 0) return this.#tooManyRequests(request, ip, secondsOverLimit);
      this.logins.failed++;
      annotate(request, 'warn', { client: addressOf(ip), msg: 'login failed' });
      return { outcome: 'invalidCredentials' };
    }
    try {
      const token = this.#tokens.issue(TOKEN_LIFETIME_SECONDS, login.scope);
      this.logins.succeeded++;
      return { outcome: 'tokenGenerated', data: { token } };
    } catch (error) {
      annotate(request, 'error', describeError(error).fields);
      return { outcome: 'tokenNotGenerated' };
    }
  };

  /** POST /token/renewal */
  readonly renew = async ({ headers }: FastifyRequest): Promise<HttpResult> => {
    const token = this.#tokens.renew(headers.authorization ?? '');
    if (token instanceof Invalid) return new Rejection('invalidToken', { detail: token.detail });
    return { outcome: 'tokenGenerated', data: { token } };
  };

  /** A hook of routes that need a token. With a read-only one, only GET and HEAD pass. */
  readonly authenticate = (request: FastifyRequest, reply: FastifyReply, pass: () => void): void => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    this.#authenticate(request, reply, isRead, pass);
  };

  /** A hook of POST /token/renewal, for which a read-only token is enough. */
  readonly authenticateRenewal = (request: FastifyRequest, reply: FastifyReply, pass: () => void): void => {
    this.#authenticate(request, reply, true, pass);
  };

  #authenticate(request: FastifyRequest, reply: FastifyReply, mayReadOnly: boolean, pass: () => void): void {
    const token = request.headers.authorization;
    if (!token) {
      send(reply, { outcome: 'tokenRequired' });
      return;
    }
    const verdict = this.#tokens.verify(token);
    if (verdict === 'read-only') markReadOnly(request);
    if (verdict === 'valid' || (verdict === 'read-only' && mayReadOnly)) pass();
    else if (verdict === 'read-only') send(reply, { outcome: 'readOnlyToken' });
    else send(reply, { outcome: 'invalidToken', detail: detailOf(token, verdict) });
  }

  #tooManyRequests(request: FastifyRequest, ip: string, seconds: number): HttpResult {
    this.logins.throttled++;
    annotate(request, 'warn', { client: addressOf(ip), msg: 'too many failed logins' });
    return { outcome: 'tooManyRequests', headers: { 'retry-after': `${seconds}` } };
  }
}

/** The address of the client; empty when it has disconnected. */
function addressIn(request: FastifyRequest): string {
  const { ip = '' } = request as { ip?: string };
  return ip;
}

/** As with `error_description` of RFC 6750, its developer learns what to do, and an attacker nothing new. */
function detailOf(token: string, verdict: TokenVerdict): string | undefined {
  if (verdict === 'expired') return 'the token has expired';
  if (verdict === 'wrong signature') return 'the token is signed with another secret';
  return /^bearer\b/i.test(token) ? 'send the token alone, without Bearer' : undefined;
}
