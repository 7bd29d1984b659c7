import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server as Listener } from 'node:net';
import cors from '@fastify/cors';
import fastify, { type FastifyInstance } from 'fastify';
import { JoiningRequest } from './body/joining-request.ts';
import { Connections } from './connections/connections.ts';
import { type ErrorHandling, rejectInEnvelope } from './connections/rejections.ts';
import type { HttpLimits } from './limits.ts';
import { REQUEST_ID_HEADER, requestIdOf } from './request-id.ts';
import { RequestLog, type RequestLogOptions } from './request-log.ts';
import { routableTarget } from './request-target.ts';

export interface HttpServerOptions extends ErrorHandling, RequestLogOptions {
  readonly limits: HttpLimits;
  /** Origins whose pages may call the API from a browser. */
  readonly corsOrigins: readonly string[];
  /** Proxies whose `X-Forwarded-For` is trusted: none, all, a number of hops, or those at these addresses. */
  readonly trustProxy: boolean | number | readonly string[];
}

/** Fastify with our own bodies, logs and error responses; closes connections without losing responses. */
export class HttpServer {
  readonly app: FastifyInstance;
  readonly connections: Connections;
  #listeners: Listener[] = [];

  constructor(options: HttpServerOptions) {
    const { limits, logStream, logLevel } = options;
    const requestLog = new RequestLog(options);
    const app = fastify({
      http: {
        IncomingMessage: JoiningRequest,
        headersTimeout: limits.headersMs,
        requestTimeout: limits.requestMs,
        connectionsCheckingInterval: limits.checkingIntervalMs,
        // Node's own response is not in the envelope: rejections.ts checks Host, which is joined when it is repeated.
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
      trustProxy: proxyTrust(options.trustProxy),
      genReqId: requestIdOf,
      logger: { stream: logStream, base: null, level: logLevel },
      logController: requestLog,
      childLoggerFactory: (logger) => logger,
      // No route has a schema. The compilers of schemas would add a seventh to the time of a start.
      schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    });
    // A client that half-closes its side after the last request still gets its responses.
    Object.assign(app.server, { httpAllowHalfOpen: true });
    this.app = app;
    this.connections = new Connections(app, limits, requestLog);
    // Handlers read bodies themselves, after the checks that need no body, and as JSON whatever their Content-Type.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser(UNPARSED, (_request, _body, done) => done(null));
    app.addHook('onRequest', (request, reply, pass) => {
      reply.header(REQUEST_ID_HEADER, request.id);
      request.raw.headers['content-type'] = UNPARSED;
      pass();
    });
    rejectInEnvelope(app, requestLog, options);
    if (options.corsOrigins.length > 0) allowOrigins(app, options.corsOrigins);
  }

  /**
   * Listens on all addresses of a host; without one on all interfaces, with IPv6 if the machine has it.
   *
   * @returns the URL for clients on this machine
   * @throws Error with a code such as `EADDRINUSE`
   */
  async listen(port: number, host?: string): Promise<string> {
    // For `localhost`, Fastify would create a second server without our listeners and options.
    const found = host === 'localhost' ? await lookup(host, { all: true }) : [{ address: host ?? '::' }];
    const [first = '', ...others] = found.map(({ address }) => address);
    try {
      await this.app.listen({ port, host: first, backlog: BACKLOG });
    } catch (error) {
      const lacksIpv6 = error instanceof Error && 'code' in error && error.code === 'EAFNOSUPPORT';
      if (host !== undefined || !lacksIpv6) throw error;
      await this.app.listen({ port, host: '0.0.0.0', backlog: BACKLOG });
    }
    this.#listeners = [this.app.server];
    const { port: actualPort } = this.app.server.address() as AddressInfo;
    for (const address of others) {
      const listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
        this.app.server.emit('connection', socket);
      });
      listener.listen({ port: actualPort, host: address, backlog: BACKLOG });
      await once(listener, 'listening');
      this.#listeners.push(listener);
    }
    return `http://${host?.includes(':') ? `[${host}]` : (host ?? 'localhost')}:${actualPort}`;
  }

  async close(): Promise<void> {
    await this.connections.drain(this.#listeners);
    await this.app.close();
  }
}

/** The length of the queue of connections that are not accepted yet, up to the system's `somaxconn`. */
const BACKLOG = 4_096;

/** The Content-Type that Fastify sees, whose parser does not read the body. */
const UNPARSED = 'application/octet-stream';

function noSchemas(): never {
  throw new Error('a route has a schema');
}

/** Fastify's option `trustProxy`, which itself takes no number of hops. */
function proxyTrust(trust: HttpServerOptions['trustProxy']) {
  if (typeof trust === 'number') return (_address: string, hop: number) => hop < trust;
  return typeof trust === 'boolean' ? trust : [...trust];
}

function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
  // The plugin would handle every OPTIONS as a preflight.
  app.addHook('onRequest', (request, reply, pass) => {
    const isPreflight = request.headers['access-control-request-method'] !== undefined;
    if (request.method === 'OPTIONS' && !isPreflight) reply.callNotFound();
    else pass();
  });
  app.register(cors, {
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders:
      'ETag, Error-Detail, Invalid-Index, Link, Retry-After, WWW-Authenticate, X-Offset, X-Request-Id, X-Total-Count',
    maxAge: 600,
    strictPreflight: false,
  });
}
