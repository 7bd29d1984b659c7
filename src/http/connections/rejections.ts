import { type IncomingMessage, METHODS, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { headersOf, send } from '../answer.ts';
import { type BodyRefusal, refuseBody } from '../body/body-reader.ts';
import { envelope, type OutcomeName, outcomes } from '../outcomes.ts';
import { newRequestId, REQUEST_ID_HEADER, requestIdOf } from '../request-id.ts';
import { type ErrorDescription, noteError, type RequestLog } from '../request-log.ts';
import { routableTarget } from '../request-target.ts';
import {
  answerBefore,
  type Connection,
  isOver,
  lastAnswer,
  linger,
  noteAnswer,
  takeNoMore,
} from './connection-state.ts';

/** What the API adds to the handling of errors. */
export interface ErrorHandling {
  readonly describeError: (error: unknown) => ErrorDescription;
  /** Redirects a request for an unknown path. @returns whether it did */
  readonly redirect: (request: FastifyRequest, reply: FastifyReply) => boolean;
}

/** Makes everything that the framework or the socket refuses an answer in the envelope. */
export function refuseInEnvelope(
  app: FastifyInstance,
  log: RequestLog,
  { describeError, redirect }: ErrorHandling,
): void {
  const methods = collectMethods(app);
  app.addHook('onRequest', refuseOddRequests);
  app.setNotFoundHandler((request, reply) => {
    const allowed = methods(request.url);
    if (allowed !== undefined) return send(reply.header('allow', allowed), { outcome: 'methodNotAllowed' });
    return redirect(request, reply) ? reply : send(reply, { outcome: 'notFound' });
  });
  app.setErrorHandler((error, request, reply) => {
    const description = describeError(error);
    noteError(request, description);
    return send(reply, { outcome: description.outcome });
  });
  refuseOnSockets(app.server, log, methods);
}

/**
 * Keeps the methods of every path.
 *
 * @returns the `Allow` of a request target's path (RFC 9110, section 10.2.1), or undefined when there is no such path
 */
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
    const path = decodeURI(target.split('?', 1)[0] ?? '');
    const known = paths.values().find(({ pattern }) => pattern.test(path));
    return known?.methods.join(', ');
  };
}

/** Lets a request pass, in its turn, or refuses it. */
function refuseOddRequests(request: FastifyRequest, reply: FastifyReply, pass: () => void): void {
  const before = answerBefore(request.raw.socket);
  const refusal = isOver(request.raw.socket) ? 'badRequest' : oddity(request);
  if (before) waitFor(before, request.raw.socket, refuseOrPass.bind(undefined, reply, refusal, pass));
  else refuseOrPass(reply, refusal, pass);
}

/**
 * Requests that do not wait for the answers before them take turns: their effects come in their order (RFC 9112, section
 * 9.3.2), none has one behind the last answer of the connection, and one answer at a time waits for a client to read it.
 * Meanwhile no more is read than has come.
 */
function waitFor(before: ServerResponse, connection: Connection, proceed: () => void): void {
  connection.pause();
  before.once('close', () => {
    if (!connection.writable) return;
    connection.resume();
    proceed();
  });
}

function refuseOrPass(reply: FastifyReply, refusal: OutcomeName | undefined, pass: () => void): void {
  if (refusal) send(reply, { outcome: refusal });
  else pass();
}

/** What the parser and the router let through, and is refused all the same. */
function oddity({ raw, params }: FastifyRequest): OutcomeName | undefined {
  if (isMalformed(raw)) return 'badRequest';
  const { expect } = raw.headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') return 'expectationFailed';
  if ((params as { id?: string }).id === '') return 'notFound';
  return undefined;
}

/**
 * Whether a request is one of another protocol than HTTP 1.0 and 1.1, is framed in a way that somebody in between may have read
 * otherwise (RFC 9112, section 6.1), or has not exactly one well-formed Host (section 3.2); repeated headers arrive
 * joined with commas.
 */
function isMalformed({ method, httpVersionMajor, httpVersionMinor, headers }: IncomingMessage): boolean {
  const { host, 'transfer-encoding': coding } = headers;
  if (httpVersionMajor !== 1 || method === FOREIGN_METHOD) return true;
  if (coding !== undefined && (httpVersionMinor === 0 || coding.toLowerCase() !== 'chunked')) return true;
  return host === undefined ? httpVersionMinor === 1 : NO_HOST.test(host);
}

/** A method that the parser takes with the protocol of Icecast only, and the router knows. */
const FOREIGN_METHOD = 'SOURCE';

/** The parser also takes the methods of RTSP, on which the router fails: they count as {@link FOREIGN_METHOD}. */
const ROUTABLE_METHODS: ReadonlySet<string | undefined> = new Set(METHODS);

/** What stands in no name and no address (RFC 3986, section 3.2.2); commas do, but nobody uses them. */
const NO_HOST = /[^\w.:~%!$&'()*+;=[\]-]/;

/** The codes of Node's parser and timers that have an outcome of their own; anything else is malformed HTTP. */
const OUTCOME_OF_CODE: Readonly<Record<string, OutcomeName>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'requestTimeout',
  HPE_HEADER_OVERFLOW: 'headersTooLarge',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'payloadTooLarge',
};

/** Where the connection is gone there is nobody to answer. */
const GONE = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT']);

/** What comes on a connection without becoming a request. */
function refuseOnSockets(
  server: Server,
  log: RequestLog,
  methods: (target: string) => string | undefined,
): void {
  server.prependListener('request', (request, response) => {
    noteAnswer(request.socket, response);
    if (!ROUTABLE_METHODS.has(request.method)) request.method = FOREIGN_METHOD;
  });

  // Both go through the routes like any request; who waits for a 100 gets it when its body is read.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));

  server.on('connect', ({ url = '', headers, socket }) => {
    socket.on('error', () => socket.destroy());
    const allowed = methods(routableTarget(url));
    const outcome = allowed === undefined ? 'notFound' : 'methodNotAllowed';
    const extraHeaders = {
      [REQUEST_ID_HEADER]: requestIdOf({ headers }),
      ...(allowed !== undefined && { allow: allowed }),
    };
    afterAnswers(socket, () => refuse(socket, log, outcome, extraHeaders));
  });

  // Fastify's own listener comes first, and is told to do nothing.
  server.on('clientError', (error: ParserError, socket) => {
    if (GONE.has(error.code ?? '')) socket.destroy();
    else breakOff(socket, log, OUTCOME_OF_CODE[error.code ?? ''] ?? 'badRequest', isInHead(error));
  });

  // A connection stands still because its client does not read, or because it does not say the rest of a request.
  server.on('timeout', (socket) => {
    const isRead = socket.writableLength === 0;
    if (isRead && lastAnswer(socket)?.req.complete === false) breakOff(socket, log, 'requestTimeout');
    else socket.destroy();
  });
}

/** An error of Node's parser, or of its timers, which have read nothing. */
interface ParserError extends NodeJS.ErrnoException {
  /** The bytes that came last. */
  readonly rawPacket?: Buffer;
  /** How many of them are read. */
  readonly bytesParsed?: number;
}

/** Whether an error is in the head of a HEAD request. Where that came in several pieces, its method is unknown. */
function isInHead({ rawPacket, bytesParsed }: ParserError): boolean {
  const read = rawPacket?.toString('latin1', 0, bytesParsed) ?? '';
  return read.split('\r\n\r\n').at(-1)?.startsWith('HEAD ') === true;
}

/** No further request can be read from this connection. Everything that was asked before is still answered. */
function breakOff(socket: Connection, log: RequestLog, outcome: OutcomeName, isToHead = false): void {
  const wasOver = isOver(socket);
  takeNoMore(socket);
  const request = lastAnswer(socket)?.req;
  // In the body of a request, its one answer is under way or has gone.
  const isInBody = request !== undefined && !request.complete;
  if (isInBody) refuseBody(request, outcome as BodyRefusal);
  // What a client goes on sending is malformed again and again, but refused once.
  if (!wasOver) {
    afterAnswers(socket, () => (isInBody ? linger(socket) : refuse(socket, log, outcome, {}, isToHead)));
  }
}

function afterAnswers(socket: Connection, proceed: () => void): void {
  const response = lastAnswer(socket);
  if (!response || response.writableFinished) proceed();
  else response.once('close', proceed);
}

/**
 * Answers on a socket that has no request, and ends it.
 *
 * @param isToHead whether the response has no content (RFC 9110, section 9.3.2)
 */
export function refuse(
  socket: Connection,
  log: RequestLog,
  outcome: OutcomeName,
  extraHeaders: Record<string, string> = {},
  isToHead = false,
): void {
  if (!socket.writable) return;
  const { status } = outcomes[outcome];
  const body = JSON.stringify(envelope(outcome, null));
  const id = extraHeaders[REQUEST_ID_HEADER] ?? newRequestId();
  const headers = {
    date: new Date().toUTCString(),
    ...headersOf(outcome),
    ...extraHeaders,
    [REQUEST_ID_HEADER]: id,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${isToHead ? '' : body}`);
  log.refused(id, status);
  linger(socket);
}
