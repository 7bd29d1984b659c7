import { setTimeout as sleep } from 'node:timers/promises';
import { createServer } from './api/server.ts';
import { Credentials } from './auth/credentials.ts';
import { LoginThrottle, THROTTLE_LIMITS, type ThrottleLimits } from './auth/throttle.ts';
import { Tokens } from './auth/tokens.ts';
import type { Config, Secrets } from './config/config.ts';
import { readVersion } from './config/version.ts';
import { FIXED_LIMITS, type HttpLimits } from './http/limits.ts';
import { type LogStream, openLogger } from './log/log.ts';
import { Metrics, type ShareMetrics } from './metrics/metrics.ts';
import { loadEngine } from './store/load-engine.ts';
import type { StoreObserver } from './store/observer.ts';

/** A service that is serving. */
export interface App {
  /** Its address, as a client on this machine writes it. */
  readonly url: string;
  /** Takes no new connections, answers the requests it has, and frees everything; within a second of `stopDelayMs` and `drainMs`. */
  close(): Promise<void>;
  /** Resolves with the reason when the service has to end, as what it acknowledged may be lost (see BookStore). */
  readonly lost?: Promise<string>;
}

/** What comes from outside besides the configuration; tests set what they need to. */
export interface Surroundings {
  readonly logStream: LogStream;
  /** The clock, in milliseconds since 1970. */
  readonly now?: () => number;
  readonly httpLimits?: Partial<HttpLimits>;
  readonly throttleLimits?: Partial<ThrottleLimits>;
  /** How metrics are those of all processes, where others serve beside this one. */
  readonly shareMetrics?: ShareMetrics | undefined;
}

/** How long a stop waits for the store, which may not answer: nothing that is acknowledged depends on it any more. */
const STORE_CLOSE_MS_MAX = 500;

/**
 * Opens the store, puts the parts together and listens: the only place where they meet.
 *
 * @throws StoreNotReady when the store cannot be reached or prepared; nothing listens then
 * @throws Error with a code such as `EADDRINUSE` when the port cannot be had
 */
export async function startApp(config: Config, secrets: Secrets, surroundings: Surroundings): Promise<App> {
  const { logStream, now = Date.now, shareMetrics } = surroundings;
  const metrics = config.hasMetrics
    ? new Metrics(readVersion(), config.store.engine, shareMetrics)
    : undefined;
  const engine = await loadEngine(config.store);
  const store = await engine.openStore(observerOf(metrics, openLogger(logStream, config.logLevel)));
  const tokens = new Tokens(secrets.token, now, secrets.previousToken);
  const server = createServer({
    store,
    tokens,
    credentials: new Credentials(secrets.username, secrets.password),
    throttle: new LoginThrottle({ ...THROTTLE_LIMITS, ...surroundings.throttleLimits }, now),
    limits: { ...FIXED_LIMITS, ...config.clientLimits, ...surroundings.httpLimits },
    corsOrigins: config.corsOrigins,
    trustProxy: config.trustProxy,
    logStream,
    logLevel: config.logLevel,
    metrics,
  });
  metrics?.start(() => ({ ...server.state(), tokens: tokens.cache }));
  try {
    const url = await server.listen(config.port, config.host);
    return {
      url,
      ...(store.lost && { lost: store.lost }),
      async close() {
        await server.close();
        metrics?.close();
        await Promise.race([store[Symbol.asyncDispose](), sleep(STORE_CLOSE_MS_MAX)]);
        await logStream.close?.();
      },
    };
  } catch (error) {
    metrics?.close();
    await store[Symbol.asyncDispose]();
    throw error;
  }
}

/** What the store does is counted, and its failures are logged. */
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
