import { abortable, shareInFlight } from './abort.ts';
import { BookkeepingError, NoResponseError, RefusedError } from './errors.ts';
import { type ApiRequest, type ApiResponse, describeRequest, type Send } from './exchange.ts';

/** The username and password of the service. */
export interface Login {
  readonly username: string;
  readonly password: string;
  /** `read` for tokens with which every change is 403 `Read-only token`. */
  readonly scope?: 'read' | undefined;
}

/** A login, with which the client gets and renews its tokens; or a token or its provider. */
export type Credentials =
  | (Login & { readonly token?: never })
  | {
      readonly token: string | TokenProvider;
      readonly username?: never;
      readonly password?: never;
      readonly scope?: never;
    };

/**
 * Provides the token of a call: for each call, and once more when the service rejects the token.
 *
 * @param rejected the rejected token; undefined at first
 * @param signal aborts the call
 * @returns the token to send; the rejected one when there is no other
 */
export type TokenProvider = (rejected?: string, signal?: AbortSignal) => Promise<string>;

/** A token of the service. */
export interface Token {
  readonly text: string;
  /** When it expires, in milliseconds since 1970 by the clock of the client; Infinity when that is unknown. */
  readonly expiresAt: number;
}

/** A token is renewed this long before it expires, for long calls and clock differences. */
const EXPIRY_MARGIN_MS = 60_000;

/**
 * Keeps a token until it is about to expire or the service rejects it, and then signs in again. `provideToken` is the
 * `token` of a client whose users sign in, such as a web page:
 *
 * `const session = new Session(signIn); createClient({ url, token: session.provideToken });`
 */
export class Session {
  #token: Token | undefined;
  readonly #signIn: (signal?: AbortSignal) => Promise<Token>;
  readonly #now: () => number;

  /**
   * @param signIn gets a token, such as with `requestToken`; its errors are those of the calls that wait for the token
   * @param now the clock, in milliseconds since 1970
   */
  constructor(signIn: (signal: AbortSignal) => Promise<Token>, now: () => number = Date.now) {
    this.#signIn = shareInFlight(signIn);
    this.#now = now;
  }

  /** The current token; undefined when there is none, or it expires within a minute. */
  get token(): Token | undefined {
    const token = this.#token;
    return token && this.#now() < token.expiresAt - EXPIRY_MARGIN_MS ? token : undefined;
  }

  set token(token: Token | undefined) {
    this.#token = token;
  }

  /** Concurrent calls share one sign-in. */
  readonly provideToken: TokenProvider = async (rejected, signal) => {
    if (this.#token?.text === rejected) this.#token = undefined;
    const token = this.token ?? (await this.#signIn(signal));
    this.#token = token;
    return token.text;
  };
}

/** Adds a token to requests, and sends a request once more when its token is rejected. @throws {RefusedError} for a wrong login */
export function withAuthorization(send: Send, credentials: Credentials, now: () => number): Send {
  const provide = createProvider(send, credentials, now);
  return async (request, signal) => {
    const token = await provide(undefined, signal);
    const response = await send(withToken(request, token), signal);
    // With a rejected token the request was not executed, so any request may be sent again.
    if (!isTokenRejected(response)) return response;
    const newToken = await provide(token, signal).catch((error: unknown) => {
      if (!response.mayHaveHappened || !(error instanceof BookkeepingError)) throw error;
      // An earlier attempt may have happened, and there is no token to find out.
      throw new NoResponseError(describeRequest(request), 'network', true, error);
    });
    if (newToken === token) return response;
    const retried = await send(withToken(request, newToken), signal);
    return { ...retried, mayHaveHappened: retried.mayHaveHappened || response.mayHaveHappened };
  };
}

function createProvider(send: Send, credentials: Credentials, now: () => number): TokenProvider {
  if (credentials.token === undefined)
    return new Session((signal) => fetchToken(send, credentials, now, signal), now).provideToken;
  const { token } = credentials;
  return (rejected, signal) =>
    abortable(typeof token === 'string' ? Promise.resolve(token) : token(rejected, signal), signal);
}

/** Requests a token. @throws {RefusedError} when the service rejects the login @throws {NoResponseError} */
export function fetchToken(
  send: Send,
  { username, password, scope }: Login,
  now: () => number,
  signal?: AbortSignal,
): Promise<Token> {
  const body = JSON.stringify({ username, password, scope });
  return sendForToken(send, { ...FOR_TOKEN, path: 'token', body }, now, signal);
}

/** Renews a token. @throws {RefusedError} when the service does not renew it @throws {NoResponseError} */
export function fetchRenewal(send: Send, token: string, now: () => number): Promise<Token> {
  return sendForToken(send, withToken({ ...FOR_TOKEN, path: 'token/renewal' }, token), now);
}

const FOR_TOKEN = { method: 'POST', isRetryable: true, isWrite: false } as const;

async function sendForToken(
  send: Send,
  request: ApiRequest,
  now: () => number,
  signal?: AbortSignal,
): Promise<Token> {
  const response = await send(request, signal);
  if (response.status !== 200) throw new RefusedError(response);
  const { token: text } = (response.data ?? {}) as { token?: unknown };
  if (typeof text !== 'string') throw new NoResponseError(describeRequest(request), 'unreadable', false);
  return { text, expiresAt: now() + lifetimeOf(text, response, now()) };
}

function withToken(request: ApiRequest, token: string): ApiRequest {
  return { ...request, headers: { ...request.headers, Authorization: token } };
}

function isTokenRejected({ status, message }: ApiResponse): boolean {
  return status === 401 && message === 'Invalid token';
}

/**
 * The lifetime of a new token in milliseconds, by the `Date` of the response or, where a browser may not read that, by the
 * clock of the client. Infinity when the token has no `exp`, or seems to have expired because a clock is wrong.
 */
function lifetimeOf(token: string, { headers }: ApiResponse, now: number): number {
  const lifetime = expiryOf(token) - (Date.parse(headers.get('Date') ?? '') || now);
  return lifetime > EXPIRY_MARGIN_MS ? lifetime : Number.POSITIVE_INFINITY;
}

/** The `exp` of a token (RFC 7519, section 4.1.4) in milliseconds since 1970; NaN when there is none. */
function expiryOf(token: string): number {
  try {
    const [, payload = ''] = token.split('.');
    const { exp } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as { exp?: unknown };
    return Number(exp) * 1_000;
  } catch {
    return Number.NaN;
  }
}
