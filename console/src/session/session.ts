import { signal } from '@preact/signals';
import {
  createClient,
  type Login,
  RefusedError,
  requestToken,
  type Token,
} from '../../../src/client/index.ts';

/** The address of the API: one level above the page, also behind a proxy with a path prefix. */
export const SERVICE = new URL('../', document.baseURI);

/** `expired`: the user has to sign in again before waiting calls continue. */
export const session = signal<'out' | 'in' | 'expired'>('out');

const RENEWAL_MARGIN_MS = 90_000;

const SIGN_IN_TIMEOUT_MS = 15_000;

/** The name of the token in the session storage, which survives a reload and ends with the tab. */
const STORED_TOKEN = 'token';

/** Calls the service. A call waits while there is no token, and fails with an `AbortError` when the user signs out. */
export const client = createClient({ url: SERVICE, token: provideToken, attemptsMax: 3 });

let token: Token | undefined;
/** Renews the token; in memory only, and as long as the page is in use. */
let login: Login | undefined;
export let lastUsername = '';
let renewalTimer: ReturnType<typeof setTimeout> | undefined;
let renewal: Promise<string | undefined> | undefined;
let signedIn = Promise.withResolvers<string>();
let lastUse = 0;

for (const event of ['pointerdown', 'keydown', 'wheel', 'touchmove']) {
  addEventListener(event, noteUse, { capture: true, passive: true });
}

function noteUse(): void {
  lastUse = Date.now();
}

const stored = JSON.parse(sessionStorage.getItem(STORED_TOKEN) ?? 'null') as Token | null;
if (stored && stored.expiresAt > Date.now() + 1_000) setToken(stored);

/** Signs in, and continues the calls that wait for it. @throws {RefusedError | NoAnswerError} */
export async function signIn(given: Login): Promise<void> {
  setToken(await request(given));
  login = given;
  lastUsername = given.username;
}

/** Forgets the token and the login. Calls that wait for a sign-in fail with an `AbortError`. */
export function signOut(): void {
  sessionStorage.removeItem(STORED_TOKEN);
  clearTimeout(renewalTimer);
  token = login = undefined;
  signedIn.promise.catch(() => {});
  signedIn.reject(new DOMException('signed out', 'AbortError'));
  signedIn = Promise.withResolvers();
  session.value = 'out';
}

/** The headers of a request that does not go through the client; undefined when nobody is signed in. */
export function authorization(): Record<string, string> | undefined {
  return token && { Authorization: token.text };
}

/** The current token, a renewed one, or that of the next sign-in. */
async function provideToken(refused?: string): Promise<string> {
  if (token && token.text !== refused && token.expiresAt > Date.now()) return token.text;
  const renewed = await renew();
  if (renewed !== undefined) return renewed;
  if (session.value === 'in') session.value = 'expired';
  return signedIn.promise;
}

/** Requests one token for all calls that need it at the same time. @returns undefined when the user has to sign in */
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
    // The user may have signed out meanwhile.
    return login === given ? setToken(renewed) : undefined;
  } catch (error) {
    if (!(error instanceof RefusedError && error.status === 401)) throw error;
    if (login === given) login = undefined;
    return undefined;
  }
}

function request(given: Login): Promise<Token> {
  return requestToken({ ...given, url: SERVICE, timeoutMs: SIGN_IN_TIMEOUT_MS, attemptsMax: 1 });
}

function setToken(given: Token): string {
  token = given;
  sessionStorage.setItem(STORED_TOKEN, JSON.stringify(given));
  session.value = 'in';
  signedIn.resolve(given.text);
  signedIn = Promise.withResolvers();
  clearTimeout(renewalTimer);
  const since = Date.now();
  renewalTimer = setTimeout(() => renewIfUsed(since), given.expiresAt - RENEWAL_MARGIN_MS - since);
  return given.text;
}

/** A page that was not used for the lifetime of a token may be unattended: the next call asks for a sign-in. */
function renewIfUsed(since: number): void {
  if (lastUse > since) void renew().catch(() => {});
  else login = undefined;
}
