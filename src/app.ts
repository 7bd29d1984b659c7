import { setTimeout as sleep } from 'node:timers/promises';
import { createServer } from './api/server.ts';
import { Credentials } from './auth/credentials.ts';
import { LoginThrottle, THROTTLE_LIMITS, type ThrottleLimits } from './auth/throttle.ts';
import { Tokens } from './auth/tokens.ts';
import type { Secrets, ServiceConfig } from './config/config.ts';
import { readVersion } from './config/version.ts';
import { openHistory } from './history/open-history.ts';
import { serveHistory } from './history/routes.ts';
import { FIXED_LIMITS, type HttpLimits } from './http/limits.ts';
import { type LogStream, openLogger } from './log/log.ts';
import { Metrics } from './metrics/metrics.ts';
import { openSearch } from './search/open-search.ts';
import { SearchHandler } from './search/search-handler.ts';
import { loadEngine } from './store/load-engine.ts';
import type { StoreObserver } from './store/observer.ts';

export interface App {
  readonly url: string;
  /** Drains connections and releases all resources; takes at most `stopDelayMs`, `drainMs` and one second. */
  close(): Promise<void>;
  /** Resolves with the reason when acknowledged writes may be lost: the process must exit (see BookStore). */
  readonly lost: Promise<string>;
}

/** The dependencies that are not configuration; tests replace them. */
export interface Dependencies {
  readonly logStream: LogStream;
  /** The clock, in milliseconds since 1970. */
  readonly now?: () => number;
  readonly httpLimits?: Partial<HttpLimits>;
  readonly throttleLimits?: Partial<ThrottleLimits>;
}

/** What is not lost. */
const NEVER = new Promise<never>(() => {});

/** The store may hang; everything acknowledged is committed already. */
const STORE_CLOSE_MS_MAX = 500;

/**
 * @throws StoreNotReady when the store cannot be reached or prepared
 * @throws Error with a code such as `EADDRINUSE` when the service cannot listen
 */
export async function startApp(
  config: ServiceConfig,
  secrets: Secrets,
  dependencies: Dependencies,
): Promise<App> {
  const { logStream, now = Date.now } = dependencies;
  const version = readVersion();
  const metrics = config.hasMetrics ? new Metrics(version, config.store.engine) : undefined;
  const engine = await loadEngine(config.store);
  const observer = observerOf(metrics, openLogger(logStream, config.logLevel));
  await using opened = new AsyncDisposableStack();
  const store = opened.use(await engine.openStore(observer));
  const { connection } = store;
  const search = opened.use(await openSearch(connection, observer));
  const history = opened.use(await openHistory(connection, config.historyDays, observer));
  const tokens = new Tokens(secrets.tokenKey, now, secrets.previousTokenKey);
  const server = createServer({
    version,
    store,
    listQueries: new SearchHandler(search),
    tokens,
    credentials: new Credentials(secrets.username, secrets.password),
    throttle: new LoginThrottle({ ...THROTTLE_LIMITS, ...dependencies.throttleLimits }, now),
    limits: { ...FIXED_LIMITS, ...config.configuredLimits, ...dependencies.httpLimits },
    corsOrigins: config.corsOrigins,
    trustProxy: config.trustProxy,
    logStream,
    logLevel: config.logLevel,
    metrics,
  });
  const historyFollowers = history && serveHistory(server.core, history);
  metrics?.start(() => ({
    ...server.state(),
    tokens: tokens.cache,
    ...(historyFollowers && { followers: historyFollowers.state }),
  }));
  if (metrics) opened.defer(() => metrics.close());
  const url = await server.listen(config.port, config.host);
  const resources = opened.move();
  // Each wing has lines of its own, so that it can be taken away with them (test/project/wings.test.ts).
  const lost = [store.lost];
  lost.push(history?.lost);
  return {
    url,
    lost: Promise.race(lost.map((reason) => reason ?? NEVER)),
    async close() {
      await server.close();
      await Promise.race([resources.disposeAsync(), sleep(STORE_CLOSE_MS_MAX)]);
      await logStream.close?.();
    },
  };
}

function observerOf(metrics: Metrics | undefined, logger: ReturnType<typeof openLogger>): StoreObserver {
  return {
    operation: (name, waiting) => metrics?.store.operation(name, waiting) ?? (() => {}),
    pool: (name, connections) => metrics?.store.pool(name, connections),
    part(name) {
      const count = metrics?.store.part(name);
      return (cause) => {
        count?.(cause);
        const fields = cause instanceof Error ? { err: cause } : { reason: cause };
        if (cause === undefined) logger.info(`the ${name} of the store works again`);
        else logger.warn(fields, `the ${name} of the store has failed`);
      };
    },
  };
}
