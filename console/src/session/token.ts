/** The username and password that a person has typed. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** A token, and how long it is good. */
export interface Token {
  readonly text: string;
  /** When it expires, in milliseconds since 1970 by the clock of this browser. */
  readonly expiresAt: number;
}

/**
 * Why nobody could sign in:
 *
 * - `wrong`: username or password is;
 * - `throttled`: there were too many failures, and the service wants to be left alone for a while;
 * - `away`: the service does not answer, or cannot.
 */
export type SignInFault = 'wrong' | 'throttled' | 'away';

/** The sign-in has failed. */
export class SignInError extends Error {
  override readonly name = 'SignInError';
  readonly fault: SignInFault;
  /** How long to wait before trying again, in seconds; 0 when that is not known. */
  readonly waitSeconds: number;

  constructor(fault: SignInFault, waitSeconds = 0) {
    super(fault);
    this.fault = fault;
    this.waitSeconds = waitSeconds;
  }
}

/** Longer than an answer takes. */
const TIMEOUT_MS = 15_000;

/** Asks the service for a token. @throws {SignInError} */
export async function requestToken(service: URL, credentials: Credentials): Promise<Token> {
  let response: Response;
  let content: { data?: { token?: string } | null } | null;
  try {
    response = await fetch(new URL('token', service), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(credentials),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    content = (await response.json()) as typeof content;
  } catch {
    throw new SignInError('away');
  }
  const text = content?.data?.token;
  if (response.ok && text) return { text, expiresAt: Date.now() + lifetimeOf(text, response) };
  if (response.status === 429)
    throw new SignInError('throttled', Number(response.headers.get('Retry-After')));
  throw new SignInError(response.status === 400 || response.status === 401 ? 'wrong' : 'away');
}

/** How long a token is good from now on, in milliseconds: by the service's clock alone, as this one may be wrong. */
function lifetimeOf(token: string, { headers }: Response): number {
  const [, payload = ''] = token.split('.');
  const { exp } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as { exp: number };
  return exp * 1_000 - (Date.parse(headers.get('Date') ?? '') || Date.now());
}
