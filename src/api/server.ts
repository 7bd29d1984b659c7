import type { Credentials } from '../auth/credentials.ts';
import type { LoginThrottle } from '../auth/throttle.ts';
import type { Tokens } from '../auth/tokens.ts';
import type { BookStore } from '../book/book-store-interface.ts';
import { BodyReader } from '../http/body/body-reader.ts';
import { MemoryBudget } from '../http/body/memory-budget.ts';
import { HttpServer, type HttpServerOptions } from '../http/http-server.ts';
import type { RequestObserver } from '../http/request-log.ts';
import { respondWith, send } from '../http/response.ts';
import { redirectToConsole, serveConsole } from '../web/console.ts';
import { serveDocs } from '../web/docs.ts';
import { BookHandlers } from './book-handlers.ts';
import { describeError } from './describe-error.ts';
import { operations } from './description/operations.ts';
import { HEALTH_PATH, HealthHandlers, READINESS_PATH } from './health-handlers.ts';
import { ListHandler } from './list/list-handler.ts';
import { TokenHandlers } from './token-handlers.ts';

/** Makes a server of the API, its documentation and the web console. */
export function createServer(options: ServerOptions) {
  const { store, limits, metrics } = options;
  const server = new HttpServer({
    ...options,
    probes: [HEALTH_PATH, READINESS_PATH, '/metrics'],
    describeError,
    redirect: redirectToConsole,
    observer: metrics?.requests,
  });
  const bodies = new BodyReader(limits.bodyBytes, limits.bodyBytesAtOnce);
  const unread = new MemoryBudget(limits.unreadBytesAtOnce);
  const tokenHandlers = new TokenHandlers(options.tokens, options.credentials, options.throttle, bodies);
  const books = new BookHandlers(store, bodies, unread);
  const listHandler = new ListHandler(store, unread, limits.searchMs);
  const health = new HealthHandlers(store, () => server.connections.isStopping);

  const { app } = server;
  serveDocs(app);
  serveConsole(app);
  const protect = { onRequest: tokenHandlers.authenticate };
  app.post('/token', { schema: operations.issueToken }, respondWith(tokenHandlers.issue));
  app.post('/book', { ...protect, schema: operations.createBook }, respondWith(books.create));
  app.post('/books', { ...protect, schema: operations.createBooks }, respondWith(books.createMany));
  app.patch('/books', { ...protect, schema: operations.updateBooks }, respondWith(books.updateMany));
  app.get('/books', { ...protect, schema: operations.listBooks }, respondWith(listHandler.handle));
  app.get('/book/:id', { ...protect, schema: operations.findBook }, respondWith(books.find));
  app.put('/book/:id', { ...protect, schema: operations.updateBook }, respondWith(books.update));
  app.delete('/book/:id', { ...protect, schema: operations.deleteBook }, respondWith(books.delete));
  app.get(HEALTH_PATH, { schema: operations.checkHealth }, respondWith(health.check));
  app.get(READINESS_PATH, { schema: operations.checkReadiness }, respondWith(health.checkReadiness));
  if (metrics) {
    app.get('/metrics', { schema: operations.readMetrics }, async (_request, reply) => {
      const text = await metrics.expose();
      if (text === undefined) return send(reply, { outcome: 'serviceUnavailable' });
      return reply.headers(METRICS_HEADERS).type(metrics.type).send(text);
    });
  }

  return {
    /** What wings need, which add their routes before {@link listen}. */
    core: { app, connections: server.connections, protect, unread, tokens: options.tokens },
    listen: (port: number, host?: string) => server.listen(port, host),
    close: () => server.close(),
    /** The part of the metrics that is not counted. */
    state: () => ({
      connections: server.connections.counts,
      heldBytes: { bodies: bodies.budget.bytesHeld, responses: unread.bytesHeld },
      searches: listHandler.searches,
      logins: tokenHandlers.logins,
    }),
  };
}

const METRICS_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };

interface ServerOptions
  extends Pick<HttpServerOptions, 'limits' | 'corsOrigins' | 'trustProxy' | 'logStream' | 'logLevel'> {
  readonly store: BookStore;
  readonly tokens: Tokens;
  readonly credentials: Credentials;
  readonly throttle: LoginThrottle;
  readonly metrics?: ServedMetrics | undefined;
}

/** The part of a server that wings use. */
export type Core = ReturnType<typeof createServer>['core'];

/** Metrics, served without a token and without the envelope. */
interface ServedMetrics {
  readonly requests: RequestObserver;
  /** The media type of the text. */
  readonly type: string;
  /** All metrics as text; undefined when those of other processes do not arrive in time. */
  expose(): Promise<string | undefined>;
}
