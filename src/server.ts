import { BookHandlers } from './api/book-handlers.ts';
import { describeError } from './api/describe-error.ts';
import { OperationRoutes } from './api/description/openapi.ts';
import { operations } from './api/description/operations.ts';
import { HEALTH_PATH, HealthHandlers, READINESS_PATH } from './api/health-handlers.ts';
import { ListHandler } from './api/list-handler.ts';
import { ManyBooksHandlers } from './api/many-books-handlers.ts';
import { expectBookId } from './api/one-book.ts';
import { SerialQueue } from './api/serial-queue.ts';
import { TokenHandlers } from './api/token-handlers.ts';
import type { Credentials } from './auth/credentials.ts';
import type { LoginThrottle } from './auth/throttle.ts';
import type { Tokens } from './auth/tokens.ts';
import type { BookStore } from './book/book-store.ts';
import type { BookHistory } from './history/book-history.ts';
import { Followers } from './history/followers.ts';
import { HistoryHandlers } from './history/handlers.ts';
import { historyOperations } from './history/operations.ts';
import { BodyReader, CONTENT_TYPE, receiveBody } from './http/body/body-reader.ts';
import { BODY_BYTES_MAX, BOOKS_BYTES_MAX, LOGIN_BYTES_MAX } from './http/body-limits.ts';
import { HttpServer, type HttpServerOptions } from './http/connections/http-server.ts';
import { rejectMalformed } from './http/connections/malformed.ts';
import { allowOrigins, expectPreflight } from './http/cors.ts';
import { MemoryBudget } from './http/memory-budget.ts';
import { REQUEST_ID_HEADER } from './http/request-id.ts';
import { annotate, RequestLog, type RequestObserver } from './http/request-log.ts';
import { CACHE_CONTROL, cacheControl, respondWith, send } from './http/response.ts';
import type { GaugeSource } from './metrics/metrics.ts';
import type { BookSearch } from './search/book-search.ts';
import { searchBooks } from './search/operations.ts';
import { SearchHandler } from './search/search-handler.ts';
import { redirectToConsole, serveConsole } from './web/console.ts';
import { serveDocs } from './web/docs.ts';

const WRITING_METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** Makes a server of the API, its documentation and the web console: the order of a request, and then all routes. */
export function createServer(options: ServerOptions) {
  const { store, search, history, limits, metrics } = options;
  const probes = [HEALTH_PATH, READINESS_PATH, METRICS_PATH];
  const log = new RequestLog({ ...options, probes, describeError, observer: metrics?.requests });
  const server = new HttpServer(options, log);
  const { app } = server;
  const bodies = new BodyReader(limits.bodyBytesAtOnce);
  const loginBodies = new BodyReader(limits.loginBytesAtOnce);
  const unread = { budget: new MemoryBudget(limits.unreadBytesAtOnce), waitMs: limits.waitMs };
  const queue = new SerialQueue(limits.waitMs);
  const gauges: GaugeSource[] = [];

  // The order of a request. Before, it was accepted, parsed and routed behind those before it on its connection (http/connections). It has
  // an id:
  app.addHook('onRequest', (request, reply, pass) => {
    reply.header(REQUEST_ID_HEADER, request.id);
    pass();
  });
  // It is HTTP that no proxy reads otherwise:
  app.addHook('onRequest', rejectMalformed);
  // Its Content-Type does not matter: Fastify would reject one that has no parser, and a body without one.
  app.addHook('onRequest', ({ headers }, _reply, pass) => {
    headers['content-type'] = CONTENT_TYPE;
    pass();
  });
  // Pages of these origins may read its response, and a preflight of theirs is answered here:
  if (options.corsOrigins.length > 0) {
    app.addHook('onRequest', expectPreflight);
    allowOrigins(app, options.corsOrigins);
  }
  // It has a route, or is 405 or 404:
  app.setNotFoundHandler((request, reply) => {
    const methods = server.allow.of(request.url);
    if (methods !== undefined)
      return send(reply, { outcome: 'methodNotAllowed', headers: { allow: methods } });
    return redirectToConsole(request, reply) ? reply : send(reply, { outcome: 'notFound' });
  });
  // The hooks of a route run after those of all requests. Caches may keep its response, or not:
  const keepForClient = cacheControl(CACHE_CONTROL.protected);
  const keepNowhere = cacheControl(CACHE_CONTROL.unprotected);
  // It has a token, if its route needs one:
  const tokens = new TokenHandlers(options.tokens, options.credentials, options.throttle);
  const protect = { onRequest: [keepForClient, tokens.authenticate] };
  // And an id that a book can have, if its path has one:
  const protectBook = { onRequest: [...protect.onRequest, expectBookId] };
  // It has a body, if its route expects one, as bytes:
  app.decorateRequest('expectedBody', undefined);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(CONTENT_TYPE, receiveBody);
  const body = { preParsing: bodies.prepareBody, bodyLimit: BODY_BYTES_MAX };
  const longBody = { ...body, bodyLimit: BOOKS_BYTES_MAX };
  const login = { preParsing: loginBodies.prepareBody, bodyLimit: LOGIN_BYTES_MAX };
  // The handler of its route returns a result, which http/response.ts sends; or it throws:
  app.setErrorHandler((error, request, reply) => {
    const { outcome, detail, headers = {}, level = 'error', fields } = describeError(error);
    annotate(request, level, fields);
    return send(reply, { outcome, detail, headers });
  });
  // While the server stops, and after an error of a request with Expect, or an Upgrade, the connection is closed behind the response:
  app.addHook('onSend', server.connections.closeAfterSomeResponses);
  // What may have written wakes those that wait for it. A rejected request or a preflight has not.
  const afterWrites = (written: () => void) =>
    app.addHook('onResponse', ({ method }, { statusCode }, done) => {
      const isRejected = statusCode >= 400 && statusCode < 500;
      if (WRITING_METHODS.has(method) && !isRejected) written();
      done();
    });
  // Its line is in the log (http/request-log.ts).

  // The routes. From each, its method is in Allow, and its operation in the description of the API.
  const operationRoutes = new OperationRoutes();
  app.addHook('onRoute', server.allow.add);
  app.addHook('onRoute', operationRoutes.add);

  // Files, for which no token is needed: web/ makes a route for each.
  serveDocs(app, () => operationRoutes.describe(options.version));
  serveConsole(app);

  app.post(
    '/token',
    { onRequest: [keepNowhere, tokens.rejectThrottled], ...login, config: operations.issueToken },
    respondWith(tokens.issue),
  );
  app.post(
    '/token/renewal',
    { onRequest: [keepNowhere, tokens.authenticateRenewal], config: operations.renewToken },
    respondWith(tokens.renew),
  );

  const books = new BookHandlers(store);
  app.post('/book', { ...protect, ...body, config: operations.createBook }, respondWith(books.create));
  app.get('/book/:id', { ...protectBook, config: operations.findBook }, respondWith(books.find));
  app.put('/book/:id', { ...protectBook, ...body, config: operations.updateBook }, respondWith(books.update));
  app.delete('/book/:id', { ...protectBook, config: operations.deleteBook }, respondWith(books.delete));

  const many = new ManyBooksHandlers(store, unread, queue);
  app.post('/books', { ...protect, ...longBody, config: operations.createBooks }, respondWith(many.create));
  app.patch('/books', { ...protect, ...longBody, config: operations.updateBooks }, respondWith(many.update));

  const lists = new ListHandler(store, unread);
  if (search) {
    // Without a query, it passes the request to `lists`.
    const searches = new SearchHandler(search, lists, unread, limits.searchMs);
    app.get('/books', { ...protect, config: searchBooks }, respondWith(searches.handle));
    afterWrites(() => search.written());
    gauges.push({
      name: 'bookkeeping_searches',
      help: 'Searches in progress.',
      read: () => searches.count,
    });
  } else {
    app.get('/books', { ...protect, config: operations.listBooks }, respondWith(lists.handle));
  }

  if (history) {
    const followers = new Followers(history);
    const changes = new HistoryHandlers(history, followers, unread, queue);
    const { followChanges, readHistory, listDeletedBooks, restoreBook, restoreBooks } = historyOperations;
    app.get('/changes', { ...protect, config: followChanges }, respondWith(changes.follow));
    app.get('/book/:id/history', { ...protectBook, config: readHistory }, respondWith(changes.listOfBook));
    app.get('/books/deleted', { ...protect, config: listDeletedBooks }, respondWith(changes.listDeleted));
    app.post('/book/:id/restore', { ...protectBook, config: restoreBook }, respondWith(changes.restore));
    app.post(
      '/books/restore',
      { ...protect, ...body, config: restoreBooks },
      respondWith(changes.restoreMany),
    );
    afterWrites(() => followers.written());
    server.connections.drainListeners.push(() => followers.stop());
    gauges.push({
      name: 'bookkeeping_followers',
      help: 'Requests that wait for changes.',
      read: () => followers.count,
    });
  }

  const health = new HealthHandlers(store, () => server.connections.isStopping);
  app.get(HEALTH_PATH, { onRequest: keepNowhere, config: operations.checkHealth }, respondWith(health.check));
  app.get(
    READINESS_PATH,
    { onRequest: keepNowhere, config: operations.checkReadiness },
    respondWith(health.checkReadiness),
  );
  if (metrics) {
    app.get(METRICS_PATH, { config: operations.readMetrics }, async (_request, reply) =>
      reply
        .headers(METRICS_HEADERS)
        .type(metrics.type)
        .send(await metrics.expose()),
    );
  }

  return {
    listen: (port: number, host?: string) => server.listen(port, host),
    close: () => server.close(),
    /** The metrics of search and history. */
    gauges,
    /** The part of the metrics that is read at each scrape. */
    state: () => ({
      connections: server.connections.counts,
      heldBytes: {
        bodies: bodies.budget.bytesHeld + loginBodies.budget.bytesHeld,
        responses: unread.budget.bytesHeld,
      },
      logins: tokens.logins,
    }),
  };
}

const METRICS_PATH = '/metrics';
const METRICS_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };

/** What a server serves, and its limits. What is undefined is off. */
interface ServerOptions extends HttpServerOptions {
  /** Origins whose pages may call the API from a browser. */
  readonly corsOrigins: readonly string[];
  /** Of the service, for `/openapi.json`. */
  readonly version: string;
  /** Of the engine that `DB_URL` names: store/sqlite/book-store.ts or store/postgres/book-store.ts. */
  readonly store: BookStore;
  readonly search: BookSearch | undefined;
  readonly history: BookHistory | undefined;
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
