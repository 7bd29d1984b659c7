import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { HttpLimits } from '../limits.ts';
import { METHODS } from '../node-http.ts';
import type { OutcomeName } from '../outcomes.ts';
import { annotate, type ErrorDescription, type RequestLog } from '../request-log.ts';
import { send } from '../response.ts';
import { routeInOrder } from './pipelining.ts';
import { rejectOnSockets } from './socket-rejections.ts';

export interface ErrorHandling {
  readonly describeError: (error: unknown) => ErrorDescription;
  /** Redirects a request for an unknown path. @returns whether it did */
  readonly redirect: (request: FastifyRequest, reply: FastifyReply) => boolean;
}

/** Responds in the envelope to every request that no handler serves, and to every error of a handler. */
export function rejectInEnvelope(
  app: FastifyInstance,
  log: RequestLog,
  { describeError, redirect, limits }: ErrorHandling & { readonly limits: HttpLimits },
): void {
  const methods = collectMethods(app);
  app.addHook('onRequest', rejectMalformed);
  app.setNotFoundHandler((request, reply) => {
    const allowed = methods(request.url);
    if (allowed !== undefined) return send(reply.header('allow', allowed), { outcome: 'methodNotAllowed' });
    return redirect(request, reply) ? reply : send(reply, { outcome: 'notFound' });
  });
  app.setErrorHandler((error, request, reply) => {
    const { outcome, detail, headers = {}, level = 'error', fields } = describeError(error);
    annotate(request, level, fields);
    return send(reply, { outcome, detail, headers });
  });
  routeInOrder(app, limits);
  app.server.prependListener('request', (request) => {
    if (!ROUTABLE_METHODS.has(request.method)) request.method = UNSUPPORTED_METHOD;
  });
  // Both are routed like any request: 100 Continue is sent when the body is read.
  app.server.on('checkContinue', (request, response) => app.server.emit('request', request, response));
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  rejectOnSockets(app.server, log, methods);
}

/** Collects the methods of each path, for the `Allow` of a request target (RFC 9110, section 10.2.1). */
function collectMethods(app: FastifyInstance): (target: string) => string | undefined {
  const paths = new Map<string, { pattern: RegExp; methods: string[] }>();
  app.addHook('onRoute', ({ url, method }) => {
    if (url === '*') return;
    const pattern = new RegExp(`^${url.replaceAll('.', '[.]').replace(/:[a-z]+/g, '[^/]+')}$`);
    const path = paths.get(url) ?? { pattern, methods: [] };
    paths.set(url, path);
    path.methods.push(...[method].flat());
  });
  return (target) => {
    const [path = ''] = target.split('?', 1);
    const known = paths.values().find(({ pattern }) => pattern.test(path));
    return known?.methods.join(', ');
  };
}

function rejectMalformed(request: FastifyRequest, reply: FastifyReply, pass: () => void): void {
  const error = protocolViolation(request);
  if (error) send(reply, { outcome: error });
  else pass();
}

/** The outcome of a request that the parser and the router accept, but the service rejects. */
function protocolViolation({ raw, params }: FastifyRequest): OutcomeName | undefined {
  if (isMalformed(raw)) return 'badRequest';
  const { expect } = raw.headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') return 'expectationFailed';
  if ((params as { id?: string }).id === '') return 'notFound';
  return undefined;
}

/**
 * Whether a request is not HTTP 1.0 or 1.1, is framed in a way that an intermediary may have read differently (RFC 9112,
 * section 6.1), or does not have exactly one well-formed Host (section 3.2). Repeated headers are joined with commas.
 */
function isMalformed({ method, httpVersionMajor, httpVersionMinor, headers }: IncomingMessage): boolean {
  const { host, 'transfer-encoding': coding } = headers;
  if (httpVersionMajor !== 1 || method === UNSUPPORTED_METHOD) return true;
  if (coding !== undefined && (httpVersionMinor === 0 || coding.toLowerCase() !== 'chunked')) return true;
  return host === undefined ? httpVersionMinor === 1 : NOT_IN_HOST.test(host);
}

/** A method that the router knows, and the parser accepts with the protocol of Icecast only. */
const UNSUPPORTED_METHOD = 'SOURCE';

/** The parser also accepts methods of RTSP, on which the router fails: {@link UNSUPPORTED_METHOD} replaces them. */
const ROUTABLE_METHODS: ReadonlySet<string | undefined> = new Set(METHODS);

/** Characters that no host name or address has (RFC 3986, section 3.2.2); commas are valid, but not in use. */
const NOT_IN_HOST = /[^\w.:~%!$&'()*+;=[\]-]/;
