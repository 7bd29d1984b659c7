import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server as Listener } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { Allow } from '../allow.ts';
import type { HttpLimits } from '../limits.ts';
import { METHODS } from '../node-http.ts';
import { requestIdOf } from '../request-id.ts';
import type { RequestLog, RequestLogOptions } from '../request-log.ts';
import { routableTarget } from '../request-target.ts';
import { Connections } from './connections.ts';
import { JoiningRequest } from './joining-request.ts';
import { UNSUPPORTED_METHOD } from './malformed.ts';
import { routeInOrder } from './pipelining.ts';
import { rejectOnSockets } from './socket-rejections.ts';

export interface HttpServerOptions extends Pick<RequestLogOptions, 'logStream' | 'logLevel'> {
  readonly limits: HttpLimits;
  /** Proxies whose `X-Forwarded-For` is trusted: none, all, a number of hops, or those at these addresses. */
  readonly trustProxy: boolean | number | readonly string[];
}

/**
 * Fastify with our own connections: what is no request yet is limited, logged and rejected here, and connections are closed without
 * losing responses. In this folder Node and Fastify are used in ways that their documentation does not have.
 */
export class HttpServer {
  readonly app: FastifyInstance;
  readonly allow = new Allow();
  readonly connections: Connections;
  #listeners: Listener[] = [];

  constructor({ limits, trustProxy, logStream, logLevel }: HttpServerOptions, log: RequestLog) {
    const app = fastify({
      http: {
        IncomingMessage: JoiningRequest,
        headersTimeout: limits.headersMs,
        requestTimeout: limits.requestMs,
        connectionsCheckingInterval: limits.checkingIntervalMs,
        // Node's own response is not in the envelope: malformed.ts checks Host, which is joined when it is repeated.
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
      trustProxy: proxyTrust(trustProxy),
      genReqId: requestIdOf,
      logger: { stream: logStream, base: null, level: logLevel },
      logController: log,
      childLoggerFactory: (logger) => logger,
      // No route has a schema. The compilers of schemas would add a seventh to the time of a start.
      schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    });
    this.app = app;
    // A client that half-closes its side after the last request still gets its responses.
    Object.assign(app.server, { httpAllowHalfOpen: true });
    this.connections = new Connections(app.server, limits, log);
    routeInOrder(app, limits);
    // Before it is routed:
    app.server.prependListener('request', (request) => {
      if (!ROUTABLE_METHODS.has(request.method)) request.method = UNSUPPORTED_METHOD;
    });
    // Both are routed like any request: 100 Continue is sent when the body is read.
    app.server.on('checkContinue', (request, response) => app.server.emit('request', request, response));
    app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
    rejectOnSockets(app.server, log, this.allow);
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

/** The parser also accepts methods of RTSP, on which the router fails: {@link UNSUPPORTED_METHOD} replaces them. */
const ROUTABLE_METHODS: ReadonlySet<string | undefined> = new Set(METHODS);

function noSchemas(): never {
  throw new Error('a route has a schema');
}

/** Fastify's option `trustProxy`, which itself takes no number of hops. */
function proxyTrust(trust: HttpServerOptions['trustProxy']) {
  if (typeof trust === 'number') return (_address: string, hop: number) => hop < trust;
  return typeof trust === 'boolean' ? trust : [...trust];
}
