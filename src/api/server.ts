import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Credentials } from '../auth/credentials.ts';
import type { LoginThrottle } from '../auth/throttle.ts';
import type { Tokens } from '../auth/tokens.ts';
import type { BookStore } from '../book/book-store.ts';
import { BodyReader } from '../http/body/body-reader.ts';
import { MemoryBudget } from '../http/body/memory-budget.ts';
import { HttpServer, type HttpServerOptions } from '../http/http-server.ts';
import type { RequestObserver } from '../http/request-log.ts';
import { type HttpResult, respondWith } from '../http/response.ts';
import { redirectToConsole, serveConsole } from '../web/console.ts';
import { serveDocs } from '../web/docs.ts';
import { BookHandlers } from './book-handlers.ts';
import { describeError } from './describe-error.ts';
import { describeRoutes } from './description/openapi.ts';
import { type NamedOperation, operations } from './description/operations.ts';
import { HEALTH_PATH, HealthHandlers, READINESS_PATH } from './health-handlers.ts';
import { ListHandler } from './list-handler.ts';
import { TokenHandlers } from './token-handlers.ts';

/** Makes a server of the API, its documentation and the web console. */
export function createServer(options: ServerOptions) {
  const { store, listQueries, limits, metrics } = options;
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
  const books = new BookHandlers(store, bodies, unread, limits.turnMs);
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
  const list = (request: FastifyRequest, reply: FastifyReply) =>
    listQueries?.handle(request, reply, { unread, searchMs: limits.searchMs }) ??
    lists.handle(request, reply);
  const listBooks = listQueries?.operation ?? operations.listBooks;
  app.get('/books', { ...protect, config: listBooks }, respondWith(list));
  app.get('/book/:id', { ...protect, config: operations.findBook }, respondWith(books.find));
  app.put('/book/:id', { ...protect, config: operations.updateBook }, respondWith(books.update));
  app.delete('/book/:id', { ...protect, config: operations.deleteBook }, respondWith(books.delete));
  app.get(HEALTH_PATH, { config: operations.checkHealth }, respondWith(health.check));
  app.get(READINESS_PATH, { config: operations.checkReadiness }, respondWith(health.checkReadiness));
  if (metrics) {
    app.get('/metrics', { config: operations.readMetrics }, (_request, reply) =>
      reply.headers(METRICS_HEADERS).type(metrics.type).send(metrics.expose()),
    );
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
      ...(listQueries && { searches: listQueries.count }),
      logins: tokenHandlers.logins,
    }),
  };
}

const METRICS_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };

/** What answers GET /books with a query. */
export interface ListQueries {
  /** GET /books with its parameters. */
  readonly operation: NamedOperation;
  /** The number of lists that are being made or sent. */
  readonly count: number;
  /** @returns undefined when the request has no parameter that is known */
  handle(
    request: FastifyRequest,
    reply: FastifyReply,
    context: QueryContext,
  ): Promise<HttpResult> | undefined;
}

export interface QueryContext {
  /** The memory of responses that clients have not read yet. */
  readonly unread: MemoryBudget;
  /** The time until the response begins, and then until its next part. */
  readonly searchMs: number;
}

interface ServerOptions
  extends Pick<HttpServerOptions, 'limits' | 'corsOrigins' | 'trustProxy' | 'logStream' | 'logLevel'> {
  /** Of the service, for `/openapi.json`. */
  readonly version: string;
  readonly store: BookStore;
  /** Absent, all books are listed whatever the query. */
  readonly listQueries?: ListQueries | undefined;
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
  /** All metrics as text. */
  expose(): string;
}
