import diagnostics from 'node:diagnostics_channel';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { Credentials } from '../src/auth/credentials.ts';
import { LoginThrottle } from '../src/auth/throttle.ts';
import { Tokens } from '../src/auth/tokens.ts';
import { type BookStore, StoreUnavailable } from '../src/book/book-store.ts';
import { readConfig } from '../src/config/config.ts';
import { readVersion } from '../src/config/version.ts';
import type { BookHistory } from '../src/history/book-history.ts';
import type { BookSearch } from '../src/search/book-search.ts';
import { Secret } from '../src/secret.ts';
import { createServer } from '../src/server.ts';

/** A server with an unavailable store, for everything except books. */
export interface BareServer extends AsyncDisposable {
  readonly url: string;
  /** All its routes, as options of the framework. */
  readonly routes: readonly RouteOptions[];
}

export async function startBareServer(): Promise<BareServer> {
  const routes: RouteOptions[] = [];
  const onServer = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook('onRoute', (route) => {
      routes.push(route);
    });
  };
  const { config, secrets } = readConfig({ SECRET_TOKEN: 'none', AUTH_PASSWORD: 'none' });
  diagnostics.subscribe('fastify.initialization', onServer);
  const server = createServer({
    version: readVersion(),
    store: UNAVAILABLE,
    search: UNAVAILABLE,
    history: UNAVAILABLE,
    tokens: new Tokens(secrets.tokenKey, Date.now),
    credentials: new Credentials('nobody', new Secret('none')),
    throttle: new LoginThrottle(config.limits.failedLogins),
    limits: { ...config.limits, graceMs: 0 },
    corsOrigins: [],
    trustProxy: false,
    logLevel: 'silent',
    logStream: { write: () => {} },
    metrics: {
      requests: { responded: () => {}, rejected: () => {} },
      type: 'text/plain',
      expose: () => Promise.resolve(''),
    },
  });
  diagnostics.unsubscribe('fastify.initialization', onServer);
  const url = await server.listen(0, 'localhost');
  return { url, routes, [Symbol.asyncDispose]: () => server.close() };
}

/** A store of which every call rejects. */
const UNAVAILABLE = new Proxy({} as BookStore & BookHistory & BookSearch, {
  get: (_, name) => (name === 'written' ? () => {} : () => Promise.reject(new StoreUnavailable('AWAY'))),
});
