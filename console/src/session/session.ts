import { signal } from '@preact/signals';
import { type BookClient, createClient, RefusedError } from '../../../src/client/index.ts';
import { forgetToken, keepToken, keptToken } from './kept-token.ts';
import { type Credentials, requestToken, SignInError, type Token } from './token.ts';
import { hasBeenUsedSince } from './use.ts';

/** Where the API is: one level above the page, also behind a proxy that puts a path in front of both. */
export const SERVICE = new URL('../', document.baseURI);

/** Nobody is signed in; somebody is; or somebody was, and has to sign in again for the page to go on. */
export const session = signal<'out' | 'in' | 'expired'>('out');

/** A token is renewed so long before it expires. */
const RENEWAL_MARGIN_MS = 90_000;

/** How often a call is sent that is not answered; people are told sooner than programs would be. */
const ATTEMPTS_MAX = 3;

let token: Token | undefined;
let client: BookClient | undefined;
/** With these the token is renewed. They are in memory alone, and no longer than the page is used. */
let credentials: Credentials | undefined;
/** Who has signed in last, so that only the password has to be typed again. */
export let lastUsername = '';
let renewalTimer: ReturnType<typeof setTimeout> | undefined;
let signedIn = Promise.withResolvers<void>();

const kept = keptToken();
if (kept) take(kept);

/** Signs in, and lets calls go on that wait for it. @throws {SignInError} */
export async function signIn(given: Credentials): Promise<void> {
  take(await requestToken(SERVICE, given));
  credentials = given;
  lastUsername = given.username;
}

/** Forgets everything. Calls that wait for a sign-in end with an `AbortError`. */
export function signOut(): void {
  forgetToken();
  clearTimeout(renewalTimer);
  token = client = credentials = undefined;
  signedIn.promise.catch(() => {});
  signedIn.reject(new DOMException('signed out', 'AbortError'));
  signedIn = Promise.withResolvers();
  session.value = 'out';
}

/**
 * Calls the service, with a token that is good. Where there is none, the call waits until somebody has signed in.
 *
 * @param work is done again when the service refuses the token: nothing has happened then
 * @throws what the work throws; `AbortError` when somebody signs out meanwhile
 */
export async function call<Result>(work: (client: BookClient) => Promise<Result>): Promise<Result> {
  for (;;) {
    const current = client ?? (await clientOfSignIn());
    try {
      return await work(current);
    } catch (error) {
      if (!(error instanceof RefusedError && error.status === 401)) throw error;
      if (client === current) client = undefined;
    }
  }
}

/** The head of a request that has to be sent without waiting for anything; undefined when nobody is signed in. */
export function authorization(): Record<string, string> | undefined {
  return token && { Authorization: token.text };
}

/** A new client: by the credentials that are known, or by those that somebody types. */
async function clientOfSignIn(): Promise<BookClient> {
  await renew();
  if (client) return client;
  if (session.value === 'in') session.value = 'expired';
  await signedIn.promise;
  return clientOfSignIn();
}

/** Gets another token, if that is possible without asking anybody: one for all who want it at the same time. */
function renew(): Promise<void> {
  renewal ??= renewOnce().finally(() => {
    renewal = undefined;
  });
  return renewal;
}

let renewal: Promise<void> | undefined;

async function renewOnce(): Promise<void> {
  if (!credentials) return;
  try {
    take(await requestToken(SERVICE, credentials));
  } catch (error) {
    if (!(error instanceof SignInError)) throw error;
    // While the service is away, what there is may be good for a while yet.
    if (error.fault === 'away' && token && token.expiresAt > Date.now()) client ??= clientWith(token);
    else if (error.fault === 'wrong') credentials = undefined;
    else throw error;
  }
}

function take(given: Token): void {
  token = given;
  client = clientWith(given);
  keepToken(given);
  session.value = 'in';
  signedIn.resolve();
  signedIn = Promise.withResolvers();
  clearTimeout(renewalTimer);
  const issuedAt = Date.now();
  renewalTimer = setTimeout(() => renewIfUsed(issuedAt), given.expiresAt - RENEWAL_MARGIN_MS - issuedAt);
}

/** A page that nobody has used for the life of a token is perhaps watched by nobody: it asks who is there. */
function renewIfUsed(since: number): void {
  if (hasBeenUsedSince(since)) void renew().catch(() => {});
  else credentials = undefined;
}

function clientWith({ text }: Token): BookClient {
  return createClient({ url: SERVICE, token: text, attemptsMax: ATTEMPTS_MAX });
}
