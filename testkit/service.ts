import { after } from 'node:test';
import { startApp } from '../src/app.ts';
import { Credentials } from '../src/auth/credentials.ts';
import { LoginThrottle } from '../src/auth/throttle.ts';
import { Tokens } from '../src/auth/tokens.ts';
import type { BookStore } from '../src/book/book-store.ts';
import { readConfig, type ServiceConfig } from '../src/config/config.ts';
import type { BookHistory } from '../src/history/book-history.ts';
import type { HttpLimits } from '../src/http/limits.ts';
import type { BookSearch } from '../src/search/book-search.ts';
import { Secret } from '../src/secret.ts';
import { createServer } from '../src/server.ts';
import { parseStoreAddress } from '../src/store/address.ts';
import { assertNothingConfidential } from './confidential.ts';
import { assertDescribed } from './described.ts';
import { type Engine, engines } from './engines.ts';
import { assertNothingConfidentialInLog } from './log.ts';

export const SECRET = 'the secret of the tests, which is long enough';
export const USERNAME = 'librarian';
export const PASSWORD = 'the password of the tests';

/** The title in bodies that tests send, to detect bodies in logs. */
export const TITLE = 'Titus Groan';

/** The body of a successful login. */
export const LOGIN = JSON.stringify({ username: USERNAME, password: PASSWORD });

/** The body of a failed login. */
export const WRONG_LOGIN = JSON.stringify({ username: USERNAME, password: TITLE });

/** Differences from the defaults. */
export interface ServiceOptions {
  /** The clock, in milliseconds since 1970. */
  readonly now?: () => number;
  /** A clock that is never set, in milliseconds. */
  readonly monotonicNow?: () => number;
  readonly httpLimits?: Partial<HttpLimits>;
  /** The store; by default a new one, which is deleted with the service. */
  readonly dbUrl?: string;
  /** The engine of a new store; by default SQLite. */
  readonly engine?: Engine['name'];
  readonly corsOrigins?: readonly string[];
  readonly trustProxy?: ServiceConfig['trustProxy'];
  readonly secret?: string;
  readonly logLevel?: ServiceConfig['logLevel'];
  readonly hasMetrics?: boolean;
  /** Whether changes are recorded. */
  readonly hasHistory?: boolean;
}

/** A service within this process. Disposing it stops it, and asserts that its log has nothing confidential. */
export class Service implements AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** A valid token. */
  readonly token: string;
  /** The header line with the token. */
  readonly authorization: string;
  /** The log so far, line by line. */
  readonly log: readonly string[];
  /** Asserts that every response is described in `/openapi.json`. */
  readonly onResponse = assertDescribed;
  readonly #close: () => Promise<void>;

  constructor(url: string, token: string, log: readonly string[], close: () => Promise<void>) {
    this.url = url;
    this.port = Number(new URL(url).port);
    this.token = token;
    this.authorization = `Authorization: ${token}`;
    this.log = log;
    this.#close = close;
  }

  /**
   * Sends a request with the token, which headers may replace. Asserts that the response is described in `/openapi.json`,
   * and that an error has nothing confidential.
   */
  async fetch(
    method: string,
    path: string,
    body?: string,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: { Authorization: this.token, ...headers },
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(RESPONSE_MS_MAX),
    });
    const { status, headers: fields } = response;
    const text = await response.clone().text();
    if (status >= 400) assertNothingConfidential(text);
    await this.onResponse({ method, target: path }, { status, headers: fields, body: text });
    return response;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
    assertNothingConfidentialInLog(this.log, [SECRET, PASSWORD, USERNAME, TITLE]);
  }
}

/** Longer than any response takes, whatever happens to the store. */
const RESPONSE_MS_MAX = 120_000;

const DEFAULTS = readConfig({ SECRET_TOKEN: SECRET, AUTH_PASSWORD: PASSWORD, HISTORY: 'off' }).config;

/** Tests do not wait for connections that they have not closed. */
const NO_GRACE = { graceMs: 0 };

/** Starts the whole service. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const {
    dbUrl,
    engine = 'SQLite',
    secret = SECRET,
    corsOrigins = [],
    trustProxy = false,
    logLevel = 'info',
    hasMetrics = true,
    hasHistory = false,
    httpLimits,
    now,
    monotonicNow,
  } = options;
  const engineOfAddress = engines.find(({ name }) => dbUrl === undefined && name === engine);
  const address = await engineOfAddress?.createAddress();
  const store = parseStoreAddress(dbUrl ?? address?.dbUrl ?? '');
  const log: string[] = [];
  const app = await startApp(
    {
      ...DEFAULTS,
      port: 0,
      store,
      corsOrigins,
      trustProxy,
      logLevel,
      hasMetrics,
      limits: { ...DEFAULTS.limits, ...NO_GRACE, ...httpLimits },
      ...(hasHistory && { historyDays: 90 }),
    },
    { tokenKey: new Secret(secret), username: USERNAME, password: new Secret(PASSWORD) },
    { write: (line) => log.push(line) },
    now,
    monotonicNow,
  );
  return new Service(app.url, signToken(now), log, async () => {
    await app.close();
    await address?.[Symbol.asyncDispose]();
  });
}

/** Starts the HTTP server on a given store, and history. */
export async function startServiceOn(
  store: BookStore | (BookStore & BookSearch),
  httpLimits: ServiceOptions['httpLimits'] = {},
  history?: BookHistory,
): Promise<Service> {
  const log: string[] = [];
  const server = createServer({
    version: '0.0.0',
    store,
    search: 'search' in store ? store : undefined,
    history,
    tokens: new Tokens(new Secret(SECRET), Date.now),
    credentials: new Credentials(USERNAME, new Secret(PASSWORD)),
    throttle: new LoginThrottle(DEFAULTS.limits.failedLogins),
    limits: { ...DEFAULTS.limits, ...NO_GRACE, ...httpLimits },
    corsOrigins: [],
    trustProxy: false,
    logStream: { write: (line) => log.push(line) },
    logLevel: 'info',
  });
  const url = await server.listen(0, 'localhost');
  return new Service(url, signToken(), log, () => server.close());
}

function signToken(now: () => number = Date.now): string {
  return new Tokens(new Secret(SECRET), now).issue();
}

/** One service for the tests of a suite that only look at its responses: it starts at the first call, and stops after the suite. */
export function shareService(options?: ServiceOptions): () => Promise<Service> {
  let service: Promise<Service> | undefined;
  after(async () => (await service)?.[Symbol.asyncDispose]());
  return () => (service ??= startService(options));
}
