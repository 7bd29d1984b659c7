import cors from '@fastify/cors';
import fastify, { type FastifyInstance } from 'fastify';
import type { Credentials } from '../auth/credentials.ts';
import type { LoginThrottle } from '../auth/throttle.ts';
import type { Tokens } from '../auth/token.ts';
import type { BookStore } from '../book.ts';
import type { LogStream } from '../log.ts';
import { answering } from './answer.ts';
import { BookHandlers } from './books.ts';
import { endConnections } from './closing.ts';
import type { HttpLimits } from './limits.ts';
import { refuseInEnvelope } from './refusals.ts';
import { RequestLog } from './request-log.ts';
import { bookAnswers, emptyAnswers, tokenAnswers } from './schemas.ts';
import { routableTarget } from './target.ts';
import { TokenHandlers } from './token.ts';

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
}

/** The whole API, in the order in which a request meets its parts: limits, refusals, token check, handler. */
export function createServer(parts: ServerParts): FastifyInstance {
  const { store, tokens, credentials, throttle, limits } = parts;
  const app: FastifyInstance = fastify({
    http: {
      headersTimeout: limits.headersMs,
      connectionsCheckingInterval: limits.checkingIntervalMs,
      // Node's own answers are not in the envelope: refusals.ts looks at the Host, which repeated arrives joined.
      requireHostHeader: false,
      joinDuplicateHeaders: true,
    },
    requestTimeout: limits.requestMs,
    connectionTimeout: limits.idleMs,
    return503OnClosing: false,
    routerOptions: { maxParamLength: Number.MAX_SAFE_INTEGER },
    rewriteUrl: ({ url = '' }) => routableTarget(url),
    clientErrorHandler: () => {},
    trustProxy: proxyTrust(parts.trustProxy),
    logger: { stream: parts.logStream, base: null },
    logController: new RequestLog(parts.logStream),
    childLoggerFactory: (logger) => logger,
  });
  // A client that has said all it has to say may close its side, and still gets its answer.
  Object.assign(app.server, { httpAllowHalfOpen: true });
  endConnections(app);
  refuseInEnvelope(app);
  passBodiesUnread(app);
  if (parts.corsOrigins.length > 0) allowOrigins(app, parts.corsOrigins);

  const token = new TokenHandlers(tokens, credentials, throttle, limits.bodyBytes);
  const books = new BookHandlers(store, limits.bodyBytes);
  const protect = { onRequest: token.require };

  app.post('/token', { schema: tokenAnswers }, answering(token.issue));
  app.post('/book', { ...protect, schema: bookAnswers }, answering(books.create));
  app.get('/books', { ...protect, schema: emptyAnswers }, answering(books.list));
  app.get('/book/:id', { ...protect, schema: bookAnswers }, answering(books.find));
  app.put('/book/:id', { ...protect, schema: bookAnswers }, answering(books.update));
  app.delete('/book/:id', { ...protect, schema: emptyAnswers }, answering(books.delete));
  return app;
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
    exposedHeaders: ['Retry-After', 'WWW-Authenticate'],
    maxAge: 600,
    strictPreflight: false,
  });
}
