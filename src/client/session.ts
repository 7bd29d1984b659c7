import { sharing, unlessAborted } from './abort.ts';
import { BookkeepingError, NoAnswerError, RefusedError } from './client-errors.ts';
import { type Answer, type Call, nameOf, type Send } from './exchange.ts';

/** The credential pair of the service. */
export interface Login {
  readonly username: string;
  readonly password: string;
}

/** A username and a password, with which the client gets and renews its tokens; or a token, or what provides tokens. */
export type Credentials =
  | (Login & { readonly token?: never })
  | { readonly token: string | TokenProvider; readonly username?: never; readonly password?: never };

/**
 * Provides the token of a call. It is called for each call, and once more for a call whose token the service refused.
 *
 * @param refused the token that the service refused; undefined at first
 * @returns the token to send; the refused one, when there is no other
 */
export type TokenProvider = (refused?: string) => Promise<string>;

/** A token of the service. */
export interface Token {
  readonly text: string;
  /** When it expires, in milliseconds since 1970 by the clock of the client; Infinity when that is not known. */
  readonly expiresAt: number;
}

/** A token is renewed so long before it expires, for calls that take their time and clocks that differ a little. */
const RENEWAL_MARGIN_MS = 60_000;

/**
 * Makes what sends calls with a token, and sends a call once more whose token the service refuses.
 *
 * @param send sends a call as it is
 * @param now the clock, in milliseconds since 1970
 * @returns a function that throws, besides what `send` does, what the provider of the token throws:
 *   {@link RefusedError} when the sign-in is refused
 */
export function authorizing(send: Send, credentials: Credentials, now: () => number): Send {
  const provide = providerOf(send, credentials, now);
  return async (call, signal) => {
    const text = await provide(undefined, signal);
    const answer = await send(withToken(call, text), signal);
    // A refused token means that the call has not been looked at, so any call may be sent again.
    if (!isTokenRefused(answer)) return answer;
    const newText = await provide(text, signal).catch((error: unknown) => {
      if (!answer.isInDoubt || !(error instanceof BookkeepingError)) throw error;
      // An earlier attempt may have happened, and nobody can ask any more.
      throw new NoAnswerError(nameOf(call), 'network', true, error);
    });
    if (newText === text) return answer;
    const renewed = await send(withToken(call, newText), signal);
    return { ...renewed, isInDoubt: renewed.isInDoubt || answer.isInDoubt };
  };
}

type AbortableProvider = (refused: string | undefined, signal: AbortSignal | undefined) => Promise<string>;

function providerOf(send: Send, credentials: Credentials, now: () => number): AbortableProvider {
  if (credentials.token !== undefined) {
    const { token } = credentials;
    return (refused, signal) =>
      unlessAborted(typeof token === 'string' ? Promise.resolve(token) : token(refused), signal);
  }
  let current: Token | undefined;
  const signIn = sharing((signal) => requestTokenBy(send, credentials, now, signal));
  return async (refused, signal) => {
    if (current?.text === refused) current = undefined;
    if (!current || now() >= current.expiresAt - RENEWAL_MARGIN_MS) current = await signIn(signal);
    return current.text;
  };
}

/**
 * Asks the service for a token.
 *
 * @throws {RefusedError} when the service refuses the sign-in
 * @throws {NoAnswerError}
 */
export async function requestTokenBy(
  send: Send,
  { username, password }: Login,
  now: () => number,
  signal?: AbortSignal,
): Promise<Token> {
  const answer = await send({ ...SIGN_IN, body: JSON.stringify({ username, password }) }, signal);
  if (answer.status !== 200) throw new RefusedError(answer);
  const { token: text } = (answer.data ?? {}) as { token?: unknown };
  if (typeof text !== 'string') throw new NoAnswerError(nameOf(SIGN_IN), 'unreadable', false);
  return { text, expiresAt: now() + lifetimeOf(text, answer, now()) };
}

const SIGN_IN: Call = { method: 'POST', path: 'token', isRepeatable: true, isWrite: false };

function withToken(call: Call, token: string): Call {
  return { ...call, headers: { ...call.headers, Authorization: token } };
}

function isTokenRefused({ status, message }: Answer): boolean {
  return status === 401 && message === 'Invalid token';
}

/**
 * How long a token that has just been issued is valid, in milliseconds: by the clock of the service, where the browser
 * lets its `Date` be read, otherwise by that of the client. Infinity when the token does not say it, or one of the clocks
 * is so wrong that it seems to have expired already: then the service says when it has.
 */
function lifetimeOf(token: string, { headers }: Answer, now: number): number {
  const lifetime = expiryOf(token) - (Date.parse(headers.get('Date') ?? '') || now);
  return lifetime > RENEWAL_MARGIN_MS ? lifetime : Number.POSITIVE_INFINITY;
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
