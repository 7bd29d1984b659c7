import { signal } from '@preact/signals';
import {
  createClient,
  type Login,
  RefusedError,
  requestToken,
  Session,
  type Token,
} from '../../../src/client/index.ts';
import { onMessageOfOtherTab, type TabMessage, tellOtherTabs } from './tabs.ts';

/** The URL of the API: the parent path of the console, also behind a proxy with a path prefix. */
export const SERVICE_URL = new URL('../', document.baseURI);

/** `expired`: the user has to sign in again before waiting calls continue. */
export const signInState = signal<'out' | 'in' | 'expired'>('out');

const RENEWAL_MARGIN_MS = 90_000;

const SIGN_IN_TIMEOUT_MS = 15_000;

/** The key of the token in the session storage, which survives a reload and ends with the tab. */
const STORED_TOKEN = 'token';

/** The key in the local storage of the name that the form of signing in suggests. */
const STORED_USERNAME = 'username';

/** How long a new tab waits for the token of another one. */
const OTHER_TAB_MS = 100;

/** The time between two messages that a tab is in use. */
const USE_INTERVAL_MS = 10_000;

const session = new Session(renew);

/** Calls the service. A call waits while there is no token, and fails with an `AbortError` when the user signs out. */
export const client = createClient({ url: SERVICE_URL, token: session.provideToken, attemptsMax: 3 });

/** Renews the token; in memory only, and as long as the page is in use. */
let login: Login | undefined;
export let lastUsername = localStorage.getItem(STORED_USERNAME) ?? '';
let nextSignIn = Promise.withResolvers<Token>();
let renewalTimer: ReturnType<typeof setTimeout> | undefined;
let lastUse = 0;

for (const event of ['pointerdown', 'keydown', 'wheel', 'touchmove']) {
  addEventListener(event, use, { capture: true, passive: true });
}

function use(): void {
  if (Date.now() - lastUse > USE_INTERVAL_MS) tellOtherTabs({ kind: 'use' });
  lastUse = Date.now();
}

const stored = sessionStorage.getItem(STORED_TOKEN);
if (stored) keep(JSON.parse(stored) as Token);

/** The tabs of a browser share a session and its end; only the tab of the sign-in has the login. */
const otherTab = Promise.withResolvers<void>();
onMessageOfOtherTab(receive);
if (!session.token) tellOtherTabs({ kind: 'request' });
setTimeout(otherTab.resolve, session.token ? 0 : OTHER_TAB_MS);

/** Resolved when it is known whether another tab has a token. */
export const sessionRestored = otherTab.promise;

function receive(message: TabMessage): void {
  if (message.kind === 'request' && session.token) tellOtherTabs({ kind: 'token', token: session.token });
  else if (message.kind === 'use') lastUse = Date.now();
  else if (message.kind === 'sign-out') end();
  else if (message.kind === 'token') {
    continueCalls(keep(message.token));
    otherTab.resolve();
  }
}

/** Signs in, and continues the calls that wait for it. @throws {RefusedError | NoResponseError} */
export async function signIn(credentials: Login): Promise<void> {
  const token = keep(await request(credentials));
  tellOtherTabs({ kind: 'token', token });
  login = credentials;
  lastUsername = credentials.username;
  localStorage.setItem(STORED_USERNAME, lastUsername);
  continueCalls(token);
}

function continueCalls(token: Token): void {
  nextSignIn.resolve(token);
  nextSignIn = Promise.withResolvers();
}

/** Forgets the token and the login, in all tabs. Calls that wait for a sign-in fail with an `AbortError`. */
export function signOut(): void {
  tellOtherTabs({ kind: 'sign-out' });
  end();
}

function end(): void {
  sessionStorage.removeItem(STORED_TOKEN);
  clearTimeout(renewalTimer);
  session.token = login = undefined;
  nextSignIn.promise.catch(() => {});
  nextSignIn.reject(new DOMException('signed out', 'AbortError'));
  nextSignIn = Promise.withResolvers();
  signInState.value = 'out';
}

/** The headers of a request that does not use the client; undefined when there is no token. */
export function authorization(): Record<string, string> | undefined {
  return session.token && { Authorization: session.token.text };
}

/** Gets a token with the login, or waits for the next sign-in. */
async function renew(): Promise<Token> {
  const { promise: signedIn } = nextSignIn;
  const used = login;
  try {
    const token = used && (await request(used));
    // The user may have signed out or in meanwhile.
    if (token && login === used) {
      tellOtherTabs({ kind: 'token', token });
      return keep(token);
    }
  } catch (error) {
    if (!(error instanceof RefusedError && error.status === 401)) throw error;
    if (login === used) login = undefined;
  }
  if (!login && signInState.value === 'in') signInState.value = 'expired';
  return signedIn;
}

function request(credentials: Login): Promise<Token> {
  return requestToken({ ...credentials, url: SERVICE_URL, timeoutMs: SIGN_IN_TIMEOUT_MS, attemptsMax: 1 });
}

function keep(token: Token): Token {
  session.token = token;
  sessionStorage.setItem(STORED_TOKEN, JSON.stringify(token));
  signInState.value = 'in';
  clearTimeout(renewalTimer);
  const since = Date.now();
  renewalTimer = setTimeout(() => renewIfUsed(since), token.expiresAt - RENEWAL_MARGIN_MS - since);
  return token;
}

/** A page that has not been used for the lifetime of a token may be unattended: the next call needs a sign-in. */
function renewIfUsed(since: number): void {
  if (lastUse <= since) login = undefined;
  else if (login) void session.provideToken(session.token?.text).catch(() => {});
}
