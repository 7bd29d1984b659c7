import type { Credentials } from '../auth/credentials.ts';
import type { LoginThrottle } from '../auth/throttle.ts';
import type { Tokens } from '../auth/tokens.ts';
import type { BookStore } from '../book/book-store.ts';
import { BodyReader } from '../http/body/body-reader.ts';
import { MemoryBudget } from '../http/body/memory-budget.ts';
import { HttpServer, type HttpServerOptions } from '../http/http-server.ts';
import type { RequestObserver } from '../http/request-log.ts';
import { respondWith } from '../http/response.ts';
import { redirectToConsole, serveConsole } from '../web/console.ts';
import { serveDocs } from '../web/docs.ts';
import { BookHandlers } from './book-handlers.ts';
import { describeError } from './describe-error.ts';
import { describeRoutes } from './description/openapi.ts';
import { type NamedOperation, type Operation, operations } from './description/operations.ts';
import { HEALTH_PATH, HealthHandlers, READINESS_PATH } from './health-handlers.ts';
import { ListHandler } from './list-handler.ts';
import { TokenHandlers } from './token-handlers.ts';
import { Turns } from './turns.ts';
import type { UnreadLimits } from './unread-response.ts';

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
  const bodies = new BodyReader(limits.bodyBytesAtOnce);
  const logins = new BodyReader(limits.loginBytesAtOnce);
  const unread = { budget: new MemoryBudget(limits.unreadBytesAtOnce), waitMs: limits.turnMs };
  const tokenHandlers = new TokenHandlers(options.tokens, options.credentials, options.throttle, logins);
  const turns = new Turns(limits.turnMs);
  const books = new BookHandlers(store, bodies, unread, turns);
  const lists = new ListHandler(store, unread);
  const health = new HealthHandlers(store, () => server.connections.isStopping);

  const { app } = server;
  serveDocs(app, describeRoutes(app, options.version));
  serveConsole(app);
  const protect = { onRequest: tokenHandlers.authenticate };
  app.post('/token', { config: operations.issueToken }, respondWith(tokenHandlers.issue));
  app.post('/book', { ...protect, config: operations.createBook }, respondWith(books.create));
  app.post('/books', { ...protect, config: operations.createBooks }, respondWith(books.createMany));
  app.patch('/books', { ...protect, config: operations.updateBooks }, respondWith(books.updateMany));
  let list: ListRoute = { operation: operations.listBooks, handle: lists.handle };
  const core: Core = {
    app,
    protect,
    bodies,
    unread,
    turns,
    searchMs: limits.searchMs,
    extendList: (additions, handle) => {
      list = { operation: { ...operations.listBooks, ...additions }, handle };
    },
    readPage: (...page) => lists.readPage(...page),
    listBooks: lists.handle,
    onWritten: (written) =>
      app.addHook('onResponse', ({ method }, { statusCode }, done) => {
        const isRejected = statusCode >= 400 && statusCode < 500;
        if (method !== 'GET' && method !== 'HEAD' && !isRejected) written();
        done();
      }),
    onDrain: (stop) => void server.connections.drainListeners.push(stop),
  };
  const gauges = options.wings.flatMap((wing) => wing.serve(core));
  app.get('/books', { ...protect, config: list.operation }, respondWith(list.handle));
  app.get('/book/:id', { ...protect, config: operations.findBook }, respondWith(books.find));
  app.put('/book/:id', { ...protect, config: operations.updateBook }, respondWith(books.update));
  app.delete('/book/:id', { ...protect, config: operations.deleteBook }, respondWith(books.delete));
  app.get(HEALTH_PATH, { config: operations.checkHealth }, respondWith(health.check));
  app.get(READINESS_PATH, { config: operations.checkReadiness }, respondWith(health.checkReadiness));
  if (metrics) {
    app.get('/metrics', { config: operations.readMetrics }, async (_request, reply) =>
      reply
        .headers(METRICS_HEADERS)
        .type(metrics.type)
        .send(await metrics.expose()),
    );
  }

  return {
    listen: (port: number, host?: string) => server.listen(port, host),
    close: () => server.close(),
    /** The metrics of the wings. */
    gauges,
    /** The part of the core's metrics that is not counted. */
    state: () => ({
      connections: server.connections.counts,
      heldBytes: {
        bodies: bodies.budget.bytesHeld + logins.budget.bytesHeld,
        responses: unread.budget.bytesHeld,
      },
      logins: tokenHandlers.logins,
    }),
  };
}

const METRICS_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };

/** The part of a server that wings use. */
export interface Core {
  readonly app: HttpServer['app'];
  /** The options of a route that requires a token. */
  readonly protect: { readonly onRequest: TokenHandlers['authenticate'] };
  readonly bodies: BodyReader;
  readonly unread: UnreadLimits;
  /** The requests for many books. */
  readonly turns: Turns;
  /** The time until the response to a search begins, and then until its next part. */
  readonly searchMs: number;
  /** Has GET /books responded to by another handler, which calls {@link listBooks} if there is no query. */
  readonly extendList: (additions: Partial<Operation>, handle: ListHandler['handle']) => void;
  readonly readPage: ListHandler['readPage'];
  /** GET /books without a query. */
  readonly listBooks: ListHandler['handle'];
  /** Has a function called after each request that may have written. A rejected one has not: so strangers cannot make the wings work. */
  readonly onWritten: (written: () => void) => void;
  /** Has a function called when a stopping server waits only for responses: it ends long waits. */
  readonly onDrain: (stop: () => void) => void;
}

/** GET /books, which the core serves without a query, or by what a wing makes of it. */
interface ListRoute {
  readonly operation: NamedOperation;
  readonly handle: ListHandler['handle'];
}

/** A metric that is read at each scrape. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly read: () => number;
}

interface ServerOptions
  extends Pick<HttpServerOptions, 'limits' | 'corsOrigins' | 'trustProxy' | 'logStream' | 'logLevel'> {
  /** Of the service, for `/openapi.json`. */
  readonly version: string;
  readonly store: BookStore;
  /** Parts that add routes (src/wing.ts). */
  readonly wings: readonly { serve(core: Core): readonly Gauge[] }[];
  readonly tokens: Tokens;
  readonly credentials: Credentials;
  readonly throttle: LoginThrottle;
  readonly metrics?: ServedMetrics | undefined;
}

/** Metrics, served without a token and without the envelope. */
interface ServedMetrics {
  readonly requests: RequestObserver;
  /** The media type of the text. */
  readonly type: string;
  /** All metrics as text. */
  expose(): Promise<string>;
}
