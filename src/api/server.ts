import type { Server as Listener } from 'node:net';
import cors from '@fastify/cors';
import fastify, { type FastifyInstance } from 'fastify';
import type { Credentials } from '../auth/credentials.ts';
import type { LoginThrottle } from '../auth/throttle.ts';
import type { Tokens } from '../auth/tokens.ts';
import type { BookStore } from '../book/book.ts';
import { answering } from '../http/answer.ts';
import { BodyReader } from '../http/body/body-reader.ts';
import { Budget } from '../http/body/memory-budget.ts';
import { Connections } from '../http/connections/connections.ts';
import { listen, portOf } from '../http/connections/listening.ts';
import { refuseInEnvelope } from '../http/connections/rejections.ts';
import type { HttpLimits } from '../http/limits.ts';
import { requestIdOf, tellRequestIds } from '../http/request-id.ts';
import { RequestLog } from '../http/request-log.ts';
import { routableTarget } from '../http/request-target.ts';
import type { LogStream } from '../log/log.ts';
import type { LogLevel } from '../log/log-level.ts';
import { redirectToConsole, serveConsole } from '../web/console.ts';
import { serveDocs } from '../web/docs.ts';
import { BookHandlers } from './book-handlers.ts';
import { operations } from './description/operations.ts';
import { describeError } from './errors.ts';
import { HEALTH_PATH, HealthHandlers, READINESS_PATH } from './health-handlers.ts';
import { METRICS_PATH, type ServedMetrics, serveMetrics } from './metrics-handler.ts';
import { TokenHandlers } from './token-handlers.ts';

/** What the server is made of. */
export interface ServerParts {
  readonly store: BookStore;
  readonly tokens: Tokens;
  readonly credentials: Credentials;
  readonly throttle: LoginThrottle;
  readonly limits: HttpLimits;
  /** Origins whose pages may call the API from a browser. */
  readonly corsOrigins: readonly string[];
  /** Whose `X-Forwarded-For` is believed: nobody's, everybody's, the last n proxies', or these addresses'. */
  readonly trustProxy: boolean | number | readonly string[];
  /** Where the log goes, a JSON line at a time. */
  readonly logStream: LogStream;
  /** The least grave of its lines. */
  readonly logLevel: LogLevel;
  /** What is measured; nothing when absent. */
  readonly metrics?: ServedMetrics | undefined;
}

/** A server at present. */
export interface ServerState {
  /** Active connections have a request under way. */
  readonly connections: { readonly active: number; readonly idle: number };
  /** What long bodies, and answers that their clients have not read, hold of the memory. */
  readonly heldBytes: { readonly bodies: number; readonly answers: number };
  /** Searches under way. */
  readonly searches: number;
  /** How many logins there were so far, by what came of them. */
  readonly logins: TokenHandlers['logins'];
}

/** A server with the whole API. */
export interface HttpServer {
  /**
   * Listens on a host, on all interfaces when there is none.
   *
   * @returns its address, as a client on this machine writes it
   * @throws Error with a code such as `EADDRINUSE` when the port cannot be had
   */
  listen(port: number, host?: string): Promise<string>;
  /**
   * After `stopDelayMs` takes no new connections, and answers what comes on the others for a while; within `drainMs` all
   * are gone.
   */
  close(): Promise<void>;
  /** What it looks like at present. */
  state(): ServerState;
}

/** Makes the server: the whole API, in the order in which a request meets its parts: limits, refusals, token check, handler. */
export function createServer(parts: ServerParts): HttpServer {
  const { store, tokens, credentials, throttle, limits, logStream, logLevel } = parts;
  const probes = [HEALTH_PATH, READINESS_PATH, METRICS_PATH];
  const requestLog = new RequestLog(logStream, logLevel, probes, describeError, parts.metrics?.requests);
  const app: FastifyInstance = fastify({
    http: {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: limits.checkingIntervalMs,
      // Node's own answers are not in the envelope: refusals.ts looks at the Host, which repeated arrives joined.
      requireHostHeader: false,
      joinDuplicateHeaders: true,
    },
    requestTimeout: limits.requestMs,
    connectionTimeout: limits.stallMs,
    keepAliveTimeout: limits.idleMs,
    return503OnClosing: false,
    routerOptions: { maxParamLength: Number.MAX_SAFE_INTEGER },
    rewriteUrl: ({ url = '' }) => routableTarget(url),
    clientErrorHandler: () => {},
    trustProxy: proxyTrust(parts.trustProxy),
    genReqId: requestIdOf,
    logger: { stream: logStream, base: null, level: logLevel },
    logController: requestLog,
    childLoggerFactory: (logger) => logger,
  });
  // A client that has said all it has to say may close its side, and still gets its answer.
  Object.assign(app.server, { httpAllowHalfOpen: true });
  const connections = new Connections(app, limits, requestLog);
  tellRequestIds(app);
  refuseInEnvelope(app, requestLog, { describeError, redirect: redirectToConsole });
  passBodiesUnread(app);
  if (parts.corsOrigins.length > 0) allowOrigins(app, parts.corsOrigins);
  serveDocs(app);
  serveConsole(app);

  const bodies = new BodyReader(limits.bodyBytes, limits.bodyBytesAtOnce);
  const token = new TokenHandlers(tokens, credentials, throttle, bodies);
  const unread = new Budget(limits.unreadBytesAtOnce);
  const books = new BookHandlers(store, bodies, unread, limits.searchMs);
  const health = new HealthHandlers(store, () => connections.isStopping);
  const protect = { onRequest: token.require };

  app.post('/token', { schema: operations.issueToken }, answering(token.issue));
  app.post('/book', { ...protect, schema: operations.createBook }, answering(books.create));
  app.post('/books', { ...protect, schema: operations.createBooks }, answering(books.createMany));
  app.get('/books', { ...protect, schema: operations.listBooks }, answering(books.list));
  app.get('/book/:id', { ...protect, schema: operations.findBook }, answering(books.find));
  app.put('/book/:id', { ...protect, schema: operations.updateBook }, answering(books.update));
  app.delete('/book/:id', { ...protect, schema: operations.deleteBook }, answering(books.delete));
  app.get(HEALTH_PATH, { schema: operations.checkHealth }, answering(health.check));
  app.get(READINESS_PATH, { schema: operations.checkReadiness }, answering(health.checkReadiness));

  if (parts.metrics) serveMetrics(app, parts.metrics);

  let listeners: readonly Listener[] = [];
  return {
    async listen(port, host) {
      listeners = await listen(app, port, host);
      return `http://${host?.includes(':') ? `[${host}]` : (host ?? 'localhost')}:${portOf(app.server)}`;
    },
    async close() {
      await connections.drain(listeners);
      await app.close();
    },
    state: () => ({
      connections: connections.counts,
      heldBytes: { bodies: bodies.bytesHeld, answers: unread.bytesHeld },
      searches: books.searchesUnderWay,
      logins: token.logins,
    }),
  };
}

/**
 * Bodies are read by the handlers, after the checks that come before them, and as JSON whatever their Content-Type
 * says. So Fastify gets to see one Content-Type only, whose parser leaves the body where it is.
 */
function passBodiesUnread(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(UNREAD, (_request, _body, done) => done(null));
  app.addHook('onRequest', (request, _reply, pass) => {
    request.raw.headers['content-type'] = UNREAD;
    pass();
  });
}

const UNREAD = 'application/octet-stream';

/** What Fastify makes of `TRUST_PROXY`, but for a number: counted from this side, that many hops are proxies. */
function proxyTrust(
  trust: ServerParts['trustProxy'],
): boolean | string[] | ((address: string, hop: number) => boolean) {
  if (typeof trust === 'number') return (_address, hop) => hop < trust;
  return typeof trust === 'boolean' ? trust : [...trust];
}

function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
  // The plugin takes every OPTIONS for a preflight.
  app.addHook('onRequest', (request, reply, pass) => {
    const isPreflight = request.headers['access-control-request-method'] !== undefined;
    if (request.method === 'OPTIONS' && !isPreflight) reply.callNotFound();
    else pass();
  });
  app.register(cors, {
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    exposedHeaders: [
      'ETag',
      'Invalid-Index',
      'Link',
      'Retry-After',
      'WWW-Authenticate',
      'X-Request-Id',
      'X-Total-Count',
    ],
    maxAge: 600,
    strictPreflight: false,
  });
}
