import { setTimeout as sleep } from 'node:timers/promises';
import { Credentials } from './auth/credentials.ts';
import { LoginThrottle } from './auth/throttle.ts';
import { Tokens } from './auth/tokens.ts';
import type { Secrets, ServiceConfig } from './config/config.ts';
import { readVersion } from './config/version.ts';
import { openHistory } from './history/open-history.ts';
import { type LogStream, openLogger } from './log/log.ts';
import { Metrics } from './metrics/metrics.ts';
import { openSearch } from './search/open-search.ts';
import { createServer } from './server.ts';
import { loadEngine } from './store/load-engine.ts';
import type { StoreObserver } from './store/observer.ts';

export interface App {
  readonly url: string;
  /**
   * Drains connections, then releases all resources, but none of a lost store. At most it takes `stopDelayMs`, `drainMs`, the time
   * to close the store (below) and 0.5 s for the log: without a delay 4.5 s on PostgreSQL, 9 s on SQLite.
   */
  close(): Promise<void>;
  /**
   * Resolves with the reason when acknowledged writes may be lost (see BookStore). Then call {@link close} and end the process by SIGKILL:
   * an exit would close the files of SQLite, and so overwrite what another process has committed through another `-shm`.
   */
  readonly lost: Promise<string>;
}

/** The database server may hang; everything acknowledged is committed already. */
const STORE_CLOSE_MS_MAX = 500;
/** A slow disk gets more, for what only the WAL has; with the rest of a stop less than the 10 s after which Docker kills a process. */
const SQLITE_CLOSE_MS_MAX = 5_000;

/**
 * Starts the service: engine, store, search, history, server, listening. What is off is undefined.
 *
 * @param now the clock, in milliseconds since 1970, by which tokens expire
 * @param monotonicNow a clock that is never set, in milliseconds
 * @throws StoreNotReady when the store cannot be reached or prepared
 * @throws Error with a code such as `EADDRINUSE` when the service cannot listen
 */
export async function startApp(
  config: ServiceConfig,
  secrets: Secrets,
  logStream: LogStream,
  now = Date.now,
  monotonicNow?: () => number,
): Promise<App> {
  const version = readVersion();
  const metrics = config.hasMetrics ? new Metrics(version, config.store.engine) : undefined;
  const logger = openLogger(logStream, config.logLevel);
  const observer = observerOf(metrics, logger);
  await using opened = new AsyncDisposableStack();
  const engine = await loadEngine(config.store);
  const store = opened.use(await engine.openStore(observer));
  const search = opened.use(await openSearch(store.connection, observer));
  const history = opened.use(await openHistory(store.connection, config.historyDays, observer));
  const tokens = new Tokens(secrets.tokenKey, now, secrets.previousTokenKey);
  const server = createServer({
    version,
    store,
    search,
    history,
    tokens,
    credentials: new Credentials(secrets.username, secrets.password),
    throttle: new LoginThrottle(config.limits.failedLogins, monotonicNow),
    limits: config.limits,
    corsOrigins: config.corsOrigins,
    trustProxy: config.trustProxy,
    logStream,
    logLevel: config.logLevel,
    metrics,
  });
  metrics?.start(() => ({ ...server.state(), tokens: tokens.cache }), server.gauges);
  const url = await server.listen(config.port, config.host);
  const resources = opened.move();
  const lost = store.lost ?? new Promise<string>(() => {});
  let isLost = false;
  void lost.then(() => {
    isLost = true;
  });
  return {
    url,
    lost,
    async close() {
      await server.close();
      if (!isLost) {
        const closeMs = config.store.engine === 'sqlite' ? SQLITE_CLOSE_MS_MAX : STORE_CLOSE_MS_MAX;
        await Promise.race([resources.disposeAsync(), lost, sleep(closeMs, undefined, { ref: false })]);
      }
      const remains = isLost ? undefined : engine.describeRemains?.();
      if (remains !== undefined) logger.warn(remains);
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
