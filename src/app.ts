import { Credentials } from './auth/credentials.ts';
import { LoginThrottle, THROTTLE_LIMITS, type ThrottleLimits } from './auth/throttle.ts';
import { Tokens } from './auth/token.ts';
import type { Config, Secrets } from './config.ts';
import { HTTP_LIMITS, type HttpLimits } from './http/limits.ts';
import { createServer } from './http/server.ts';
import { type LogStream, openLog } from './log.ts';
import { openStore } from './store/open.ts';

/** A service that is serving. */
export interface App {
  /** Its address, as a client on this machine writes it. */
  readonly url: string;
  /** Takes no new connections, answers the requests it has, and frees everything; within {@link DRAIN_MS_MAX}. */
  close(): Promise<void>;
}

/** What comes from outside besides the configuration; tests set what they need to. */
export interface Surroundings {
  /** The clock, in milliseconds since 1970. */
  readonly now?: () => number;
  readonly logStream?: LogStream;
  readonly httpLimits?: Partial<HttpLimits>;
  readonly throttleLimits?: Partial<ThrottleLimits>;
}

/** How long a stop waits for clients; who has not got an answer by then is cut off. */
const DRAIN_MS_MAX = 4_000;

/**
 * Opens the store, puts the parts together and listens: the only place where they meet.
 *
 * @throws StoreNotReady when the store cannot be reached or prepared; nothing listens then
 * @throws Error with a code such as `EADDRINUSE` when the port cannot be had
 */
export async function startApp(
  config: Config,
  secrets: Secrets,
  surroundings: Surroundings = {},
): Promise<App> {
  const store = await openStore(config.store);
  const server = createServer({
    store,
    tokens: new Tokens(secrets.token, surroundings.now ?? Date.now),
    credentials: new Credentials(secrets.username, secrets.password),
    throttle: new LoginThrottle({ ...THROTTLE_LIMITS, ...surroundings.throttleLimits }),
    limits: { ...HTTP_LIMITS, ...surroundings.httpLimits },
    corsOrigins: config.corsOrigins,
    trustProxy: config.trustProxy,
    logStream: surroundings.logStream ?? openLog(),
  });
  try {
    await listen(server, config);
  } catch (error) {
    await store[Symbol.asyncDispose]();
    throw error;
  }

  return {
    url: urlOf(server, config.host),
    async close() {
      const cutOff = setTimeout(() => server.server.closeAllConnections(), DRAIN_MS_MAX);
      await server.close();
      clearTimeout(cutOff);
      await store[Symbol.asyncDispose]();
    },
  };
}

type AppServer = ReturnType<typeof createServer>;

/** All interfaces are those of IPv6 and IPv4 together, unless the machine has no IPv6. */
async function listen(server: AppServer, { port, host }: Config): Promise<void> {
  try {
    await server.listen({ port, host: host ?? '::' });
  } catch (error) {
    const lacksIpv6 = error instanceof Error && 'code' in error && error.code === 'EAFNOSUPPORT';
    if (host !== undefined || !lacksIpv6) throw error;
    await server.listen({ port, host: '0.0.0.0' });
  }
}

function urlOf(server: AppServer, host = 'localhost'): string {
  const address = server.server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
