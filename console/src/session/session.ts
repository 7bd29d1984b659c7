import { signal } from '@preact/signals';
import {
  createClient,
  type Login,
  RefusedError,
  requestToken,
  type Token,
} from '../../../src/client/index.ts';
import { forgetToken, keepToken, keptToken } from './kept-token.ts';
import { hasBeenUsedSince } from './use.ts';

/** Where the API is: one level above the page, also behind a proxy that puts a path in front of both. */
export const SERVICE = new URL('../', document.baseURI);

/** Nobody is signed in; somebody is; or somebody was, and has to sign in again for the page to go on. */
export const session = signal<'out' | 'in' | 'expired'>('out');

/** A token is renewed so long before it expires. */
const RENEWAL_MARGIN_MS = 90_000;

/** How long a sign-in may take. */
const SIGN_IN_MS_MAX = 15_000;

/** Calls the service. A call waits while there is no token; it ends with an `AbortError` when the user signs out. */
export const client = createClient({
  url: SERVICE,
  token: provideToken,
  // People are told sooner than programs would be.
  attemptsMax: 3,
});

let token: Token | undefined;
/** With these the token is renewed. They are in memory alone, and no longer than the page is used. */
let login: Login | undefined;
/** Who has signed in last, so that only the password has to be typed again. */
export let lastUsername = '';
let renewalTimer: ReturnType<typeof setTimeout> | undefined;
let renewal: Promise<string | undefined> | undefined;
let signedIn = Promise.withResolvers<string>();

const kept = keptToken();
if (kept) take(kept);

/** Signs in, and lets calls go on that wait for it. @throws {RefusedError | NoAnswerError} */
export async function signIn(given: Login): Promise<void> {
  take(await request(given));
  login = given;
  lastUsername = given.username;
}

/** Forgets everything. Calls that wait for a sign-in end with an `AbortError`. */
export function signOut(): void {
  forgetToken();
  clearTimeout(renewalTimer);
  token = login = undefined;
  signedIn.promise.catch(() => {});
  signedIn.reject(new DOMException('signed out', 'AbortError'));
  signedIn = Promise.withResolvers();
  session.value = 'out';
}

/** The head of a request that has to be sent without waiting for anything; undefined when nobody is signed in. */
export function authorization(): Record<string, string> | undefined {
  return token && { Authorization: token.text };
}

/** The token that is known, another by the login that is known, or that of the next sign-in. */
async function provideToken(refused?: string): Promise<string> {
  if (token && token.text !== refused && token.expiresAt > Date.now()) return token.text;
  const renewed = await renew();
  if (renewed !== undefined) return renewed;
  if (session.value === 'in') session.value = 'expired';
  return signedIn.promise;
}

/** Gets one token for all calls that want it at the same time. @returns undefined when the user has to sign in */
function renew(): Promise<string | undefined> {
  renewal ??= renewOnce().finally(() => {
    renewal = undefined;
  });
  return renewal;
}

async function renewOnce(): Promise<string | undefined> {
  const given = login;
  if (!given) return undefined;
  try {
    const renewed = await request(given);
    // Whoever has signed out meanwhile stays out.
    return login === given ? take(renewed) : undefined;
  } catch (error) {
    if (!(error instanceof RefusedError && error.status === 401)) throw error;
    if (login === given) login = undefined;
    return undefined;
  }
}

function request(given: Login): Promise<Token> {
  return requestToken({ ...given, url: SERVICE, timeoutMs: SIGN_IN_MS_MAX, attemptsMax: 1 });
}

function take(given: Token): string {
  token = given;
  keepToken(given);
  session.value = 'in';
  signedIn.resolve(given.text);
  signedIn = Promise.withResolvers();
  clearTimeout(renewalTimer);
  const issuedAt = Date.now();
  renewalTimer = setTimeout(() => renewIfUsed(issuedAt), given.expiresAt - RENEWAL_MARGIN_MS - issuedAt);
  return given.text;
}

/** A page that nobody has used for the life of a token is perhaps watched by nobody: it asks who is there. */
function renewIfUsed(since: number): void {
  if (hasBeenUsedSince(since)) void renew().catch(() => {});
  else login = undefined;
}
