import { signal } from '@preact/signals';
import {
  type BookClient,
  createClient,
  type Login,
  RefusedError,
  renewToken,
  requestToken,
  Session,
  type Token,
} from 'bookkeeping-client/index.ts';

/** A token is renewed so long before it expires, and if the service does not respond, again and again. */
const RENEWAL_MARGIN_MS = 90_000;
const RENEWAL_RETRY_MS = 10_000;

/** The service renews tokens for so long after the sign-in, which is a token's lifetime before the first one expires. */
const RENEWABLE_MS = 12 * 60 * 60_000;
const TOKEN_SECONDS = 15 * 60;

/** Calls wait for a sign-in from so long before the last token expires (`Session`); the user is warned before. */
const END_MARGIN_MS = 60_000;
const WARNING_MS = 120_000;

const REQUEST_TIMEOUT_MS = 15_000;

/** The key of the token in the session storage, which survives a reload and ends with the tab. */
const STORED_TOKEN = 'token';

/** The key in the local storage of the name that the form of signing in suggests. */
const STORED_USERNAME = 'username';

/** How long a new tab waits for the token of another one. */
const OTHER_TAB_MS = 100;

/** The time between two messages that a tab is in use. */
const USE_INTERVAL_MS = 10_000;

/** What the tabs of a browser tell each other about their session. Like the session storage, it is kept on no disk. */
type TabMessage =
  /** A tab without a token asks for one. */
  | { readonly kind: 'request' }
  | { readonly kind: 'token'; readonly token: Token }
  | { readonly kind: 'use' }
  | { readonly kind: 'sign-out' };

/** The session of the user, which the tabs of a browser share: its token, which is renewed while the page is used, and no password. */
export class UserSession {
  /** `expired`: the user has to sign in again before waiting calls continue. */
  readonly state = signal<'out' | 'in' | 'expired'>('out');
  /** Whether the session ends within two minutes, as its token cannot be renewed any more. */
  readonly endsSoon = signal(false);
  /** Whether the user wants to sign in again before the end. */
  readonly isAsked = signal(false);
  /** Whether the token is read-only: the service rejects each change. */
  readonly isReadOnly = signal(false);
  /** Calls the service. A call waits while there is no token, and fails with an `AbortError` once the user has signed out. */
  readonly client: BookClient;
  /** {@link client} without retries, for what is asked again by itself: the page says at once why it waits. */
  readonly onceClient: BookClient;
  /** Resolved when it is known whether another tab has a token. */
  readonly restored: Promise<void>;
  username = localStorage.getItem(STORED_USERNAME) ?? '';
  readonly #url: URL;
  readonly #session = new Session(() => this.#renew());
  readonly #otherTabs = new BroadcastChannel('session');
  /** Also one that is about to expire. */
  #token: Token | undefined;
  #renewal: Promise<Token | undefined> | undefined;
  #nextSignIn = Promise.withResolvers<Token>();
  /** Of the renewal, of the warning or of the end. */
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether the page was not used for the lifetime of a token: then the next call needs a sign-in. */
  #isUnattended = false;
  /** When the page was last used, by the monotonic clock. */
  #lastUse = Number.NEGATIVE_INFINITY;

  /** @param url of the API */
  constructor(url: URL) {
    this.#url = url;
    const options = { url, token: this.#session.provideToken };
    this.client = createClient({ ...options, attemptsMax: 3 });
    this.onceClient = createClient({ ...options, attemptsMax: 1 });
    for (const event of ['pointerdown', 'keydown', 'wheel', 'touchmove'])
      addEventListener(event, () => this.#use(), { capture: true, passive: true });
    const stored = sessionStorage.getItem(STORED_TOKEN);
    if (stored) this.#keep(JSON.parse(stored) as Token);
    // A reload is a use of the page.
    this.#use();
    const restored = Promise.withResolvers<void>();
    this.restored = restored.promise;
    this.#otherTabs.addEventListener('message', ({ data }) => {
      this.#receive(data as TabMessage);
      if ((data as TabMessage).kind === 'token') restored.resolve();
    });
    if (!stored) this.#tell({ kind: 'request' });
    setTimeout(restored.resolve, stored ? 0 : OTHER_TAB_MS);
  }

  /** Signs in, and continues the calls that wait for it. @throws {RefusedError | NoResponseError} */
  async signIn(credentials: Login): Promise<void> {
    const token = this.#keep(await requestToken({ ...credentials, ...this.#requestOptions }));
    this.#tell({ kind: 'token', token });
    this.username = credentials.username;
    localStorage.setItem(STORED_USERNAME, this.username);
    this.#continueCalls(token);
  }

  /** Forgets the token, in all tabs. Calls that wait for a sign-in fail with an `AbortError`. */
  signOut(): void {
    this.#tell({ kind: 'sign-out' });
    this.#end();
  }

  #use(): void {
    const now = performance.now();
    if (now - this.#lastUse > USE_INTERVAL_MS) this.#tell({ kind: 'use' });
    this.#noteUse(now);
  }

  #noteUse(now: number): void {
    this.#lastUse = now;
    if (!this.#isUnattended) return;
    this.#isUnattended = false;
    // The token may be valid for a moment yet.
    this.#renewed().catch(() => {});
  }

  #tell(message: TabMessage): void {
    this.#otherTabs.postMessage(message);
  }

  #receive(message: TabMessage): void {
    const { token } = this.#session;
    if (message.kind === 'request' && token) this.#tell({ kind: 'token', token });
    else if (message.kind === 'use') this.#noteUse(performance.now());
    else if (message.kind === 'sign-out') this.#end();
    else if (message.kind === 'token') this.#continueCalls(this.#keep(message.token));
  }

  #continueCalls(token: Token): void {
    this.#nextSignIn.resolve(token);
    this.#nextSignIn = Promise.withResolvers();
  }

  #end(): void {
    sessionStorage.removeItem(STORED_TOKEN);
    clearTimeout(this.#timer);
    this.#session.token = this.#token = undefined;
    this.#nextSignIn.promise.catch(() => {});
    this.#nextSignIn.reject(new DOMException('signed out', 'AbortError'));
    this.#nextSignIn = Promise.withResolvers();
    this.state.value = 'out';
    this.isReadOnly.value = this.endsSoon.value = this.isAsked.value = false;
  }

  /** Renews the token, or waits for the next sign-in. */
  async #renew(): Promise<Token> {
    if (this.state.peek() === 'out') throw new DOMException('signed out', 'AbortError');
    const { promise: signedIn } = this.#nextSignIn;
    const token = this.#isUnattended ? undefined : await this.#renewed();
    if (!token && this.state.value === 'in') this.#expire();
    return token ?? signedIn;
  }

  /**
   * Renews the token. Whether it has expired, the service knows better than the clock of this machine.
   *
   * @returns the token that there is then, perhaps by another sign-in; undefined when only a sign-in gets another one
   * @throws {RefusedError | NoResponseError} when it may be renewed later
   */
  #renewed(): Promise<Token | undefined> {
    this.#renewal ??= this.#requestRenewal().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #requestRenewal(): Promise<Token | undefined> {
    const former = this.#token;
    try {
      const token = former && (await renewToken({ token: former.text, ...this.#requestOptions }));
      // The user may have signed out or in meanwhile.
      if (token && this.#token === former) {
        this.#tell({ kind: 'token', token });
        return this.#keep(token);
      }
    } catch (error) {
      // A proxy may reject it otherwise, for a while.
      if (!(error instanceof RefusedError && error.status === 401)) throw error;
    }
    return this.#token === former ? undefined : this.#token;
  }

  get #requestOptions() {
    return { url: this.#url, timeoutMs: REQUEST_TIMEOUT_MS, attemptsMax: 1 };
  }

  #keep(token: Token): Token {
    this.#session.token = this.#token = token;
    this.isReadOnly.value = claimsOf(token).scope === 'read';
    sessionStorage.setItem(STORED_TOKEN, JSON.stringify(token));
    this.state.value = 'in';
    this.endsSoon.value = this.isAsked.value = this.#isUnattended = false;
    const renewsAt = token.expiresAt - RENEWAL_MARGIN_MS;
    const endsAt = token.expiresAt - END_MARGIN_MS;
    const since = performance.now();
    if (renewsAt < renewableUntil(token)) this.#at(renewsAt, () => this.#renewIfUsed(since));
    else this.#at(endsAt - WARNING_MS, () => this.#warn(endsAt));
    return token;
  }

  /** Calls a function at a time in milliseconds since 1970, instead of the one before; not at all at an infinite time. */
  #at(timeMs: number, call: () => void): void {
    clearTimeout(this.#timer);
    if (Number.isFinite(timeMs)) this.#timer = setTimeout(call, timeMs - Date.now());
  }

  /** A page that has not been used for the lifetime of a token may be unattended. */
  #renewIfUsed(since: number): void {
    this.#isUnattended = this.#lastUse <= since;
    if (this.#isUnattended) return;
    const retry = () => this.#at(Date.now() + RENEWAL_RETRY_MS, () => this.#renewIfUsed(since));
    this.#renewed().catch(retry);
  }

  #warn(endsAt: number): void {
    this.endsSoon.value = true;
    this.#at(endsAt, () => this.#expire());
  }

  #expire(): void {
    this.state.value = 'expired';
    this.endsSoon.value = false;
  }
}

/** The time until which the service renews a token, by the clock that its `expiresAt` is of. */
function renewableUntil(token: Token): number {
  const { exp, auth_time: signIn = Number(exp) - TOKEN_SECONDS } = claimsOf(token);
  return token.expiresAt - (Number(exp) - Number(signIn)) * 1_000 + RENEWABLE_MS;
}

function claimsOf({ text }: Token): Readonly<Record<string, unknown>> {
  const [, payload = ''] = text.split('.');
  return JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as Record<string, unknown>;
}
