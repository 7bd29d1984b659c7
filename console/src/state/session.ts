import { signal } from '@preact/signals';
import {
  type BookClient,
  createClient,
  type Login,
  RefusedError,
  requestToken,
  Session,
  type Token,
} from 'bookkeeping-client/index.ts';

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

/** What the tabs of a browser tell each other about their session. Like the session storage, it is kept on no disk. */
type TabMessage =
  /** A tab without a token asks for one. */
  | { readonly kind: 'request' }
  | { readonly kind: 'token'; readonly token: Token }
  | { readonly kind: 'use' }
  | { readonly kind: 'sign-out' };

/** The session of the user, which the tabs of a browser share; only the tab of the sign-in has the login. */
export class UserSession {
  /** `expired`: the user has to sign in again before waiting calls continue. */
  readonly state = signal<'out' | 'in' | 'expired'>('out');
  /** Whether the token is read-only: the service refuses each change. */
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
  /** Renews the token; in memory only, and as long as the page is in use. */
  #login: Login | undefined;
  #nextSignIn = Promise.withResolvers<Token>();
  #renewalTimer: ReturnType<typeof setTimeout> | undefined;
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
    const token = this.#keep(await this.#request(credentials));
    this.#tell({ kind: 'token', token });
    this.#login = credentials;
    this.username = credentials.username;
    localStorage.setItem(STORED_USERNAME, this.username);
    this.#continueCalls(token);
  }

  /** Forgets the token and the login, in all tabs. Calls that wait for a sign-in fail with an `AbortError`. */
  signOut(): void {
    this.#tell({ kind: 'sign-out' });
    this.#end();
  }

  #use(): void {
    const now = performance.now();
    if (now - this.#lastUse > USE_INTERVAL_MS) this.#tell({ kind: 'use' });
    this.#lastUse = now;
  }

  #tell(message: TabMessage): void {
    this.#otherTabs.postMessage(message);
  }

  #receive(message: TabMessage): void {
    const { token } = this.#session;
    if (message.kind === 'request' && token) this.#tell({ kind: 'token', token });
    else if (message.kind === 'use') this.#lastUse = performance.now();
    else if (message.kind === 'sign-out') this.#end();
    else if (message.kind === 'token') this.#continueCalls(this.#keep(message.token));
  }

  #continueCalls(token: Token): void {
    this.#nextSignIn.resolve(token);
    this.#nextSignIn = Promise.withResolvers();
  }

  #end(): void {
    sessionStorage.removeItem(STORED_TOKEN);
    clearTimeout(this.#renewalTimer);
    this.#session.token = this.#login = undefined;
    this.#nextSignIn.promise.catch(() => {});
    this.#nextSignIn.reject(new DOMException('signed out', 'AbortError'));
    this.#nextSignIn = Promise.withResolvers();
    this.state.value = 'out';
    this.isReadOnly.value = false;
  }

  /** Gets a token with the login, or waits for the next sign-in. */
  async #renew(): Promise<Token> {
    if (this.state.peek() === 'out') throw new DOMException('signed out', 'AbortError');
    const { promise: signedIn } = this.#nextSignIn;
    const used = this.#login;
    try {
      const token = used && (await this.#request(used));
      // The user may have signed out or in meanwhile.
      if (token && this.#login === used) {
        this.#tell({ kind: 'token', token });
        return this.#keep(token);
      }
    } catch (error) {
      if (!(error instanceof RefusedError && error.status === 401)) throw error;
      if (this.#login === used) this.#login = undefined;
    }
    if (!this.#login && this.state.value === 'in') this.state.value = 'expired';
    return signedIn;
  }

  #request(credentials: Login): Promise<Token> {
    const options = { url: this.#url, timeoutMs: SIGN_IN_TIMEOUT_MS, attemptsMax: 1 };
    return requestToken({ ...credentials, ...options });
  }

  #keep(token: Token): Token {
    this.#session.token = token;
    this.isReadOnly.value = isReadOnly(token.text);
    sessionStorage.setItem(STORED_TOKEN, JSON.stringify(token));
    this.state.value = 'in';
    clearTimeout(this.#renewalTimer);
    const since = performance.now();
    const wait = token.expiresAt - RENEWAL_MARGIN_MS - Date.now();
    this.#renewalTimer = setTimeout(() => this.#renewIfUsed(since), wait);
    return token;
  }

  /** A page that has not been used for the lifetime of a token may be unattended: the next call needs a sign-in. */
  #renewIfUsed(since: number): void {
    if (this.#lastUse <= since) this.#login = undefined;
    else if (this.#login) void this.#session.provideToken(this.#session.token?.text).catch(() => {});
  }
}

/** Whether the payload of a token has the scope `read`. */
function isReadOnly(token: string): boolean {
  const [, payload = ''] = token.split('.');
  const { scope } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as {
    scope?: unknown;
  };
  return scope === 'read';
}
