import { sharing } from './abort.ts';
import { BookkeepingError, NoAnswerError, RefusedError } from './errors.ts';
import { type Answer, type Call, nameOf, type Send } from './exchange.ts';

/** Who calls: a name and a password, with which tokens are had and renewed, or a token that is all there is. */
export type Credentials =
  | { readonly username: string; readonly password: string; readonly token?: never }
  | { readonly token: string; readonly username?: never; readonly password?: never };

/** A token is renewed so long before it expires, for calls that take their time and clocks that differ a little. */
const RENEWAL_MARGIN_MS = 60_000;

interface Token {
  readonly text: string;
  /** From when on another is asked for, in milliseconds since 1970. */
  readonly renewAt: number;
}

/**
 * Makes what sends calls with a token. It signs in at the first call, again before the token expires, and once for a
 * call whose token the service refuses. Calls that need a token at the same time share one sign-in.
 *
 * @param send sends a call as it is
 * @param now the clock, in milliseconds since 1970
 * @returns a function that throws, besides what `send` does, {@link RefusedError} when the sign-in is refused
 */
export function authorizing(send: Send, credentials: Credentials, now: () => number): Send {
  const { username, password } = credentials;
  const isRenewable = credentials.token === undefined;
  let token: Token | undefined;
  if (!isRenewable) token = { text: credentials.token, renewAt: Number.POSITIVE_INFINITY };

  async function currentToken(signal?: AbortSignal): Promise<string> {
    if (!token || now() >= token.renewAt) token = await signIn(signal);
    return token.text;
  }

  const signIn = sharing(async (signal): Promise<Token> => {
    const body = JSON.stringify({ username, password });
    const answer = await send({ ...SIGN_IN, body }, signal);
    if (answer.status !== 200) throw new RefusedError(answer);
    const { token: text } = (answer.data ?? {}) as { token?: unknown };
    if (typeof text !== 'string') throw new NoAnswerError(nameOf(SIGN_IN), 'unreadable', false);
    return { text, renewAt: renewalOf(text, now()) };
  });

  return async (call, signal) => {
    const text = await currentToken(signal);
    const answer = await send(withToken(call, text), signal);
    // A refused token means that the call has not been looked at, so any call may be sent again.
    if (!isTokenRefused(answer) || !isRenewable) return answer;
    if (token?.text === text) token = undefined;
    const newText = await currentToken(signal).catch((error: unknown) => {
      if (!answer.isInDoubt || !(error instanceof BookkeepingError)) throw error;
      // An earlier attempt may have happened, and nobody can ask any more.
      throw new NoAnswerError(nameOf(call), 'network', true, error);
    });
    const renewed = await send(withToken(call, newText), signal);
    return { ...renewed, isInDoubt: renewed.isInDoubt || answer.isInDoubt };
  };
}

const SIGN_IN: Call = { method: 'POST', path: 'token', isRepeatable: true, isWrite: false };

function withToken(call: Call, token: string): Call {
  return { ...call, headers: { ...call.headers, Authorization: token } };
}

function isTokenRefused({ status, message }: Answer): boolean {
  return status === 401 && message === 'Invalid token';
}

/**
 * When to renew a token that has just been issued, by its own `exp`. A clock that is so wrong that the token seems to
 * have expired already is no help: then, as with a token that cannot be read, the service has to say so.
 */
function renewalOf(token: string, now: number): number {
  const renewAt = expiryOf(token) - RENEWAL_MARGIN_MS;
  return renewAt > now ? renewAt : Number.POSITIVE_INFINITY;
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
