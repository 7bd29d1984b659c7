import type { Server } from 'node:http';
import type { Allow } from '../allow.ts';
import { failBody } from '../body/body-reader.ts';
import { STATUS_CODES } from '../node-http.ts';
import { envelope, type OutcomeName, outcomes } from '../outcomes.ts';
import { Rejection } from '../rejection.ts';
import { newRequestId, REQUEST_ID_HEADER, requestIdOf } from '../request-id.ts';
import type { RequestLog } from '../request-log.ts';
import { routableTarget } from '../request-target.ts';
import { OUTCOME_HEADERS } from '../response.ts';
import { type Connection, linger, stateOf } from './connection-state.ts';
import { REQUEST_NOT_TAKEN } from './pipelining.ts';

/** Outcomes by the error codes of Node's parser and timers; every other code is malformed HTTP. */
const OUTCOME_OF_CODE: Readonly<Record<string, OutcomeName>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'requestTimeout',
  HPE_HEADER_OVERFLOW: 'headersTooLarge',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'payloadTooLarge',
  [REQUEST_NOT_TAKEN]: 'serviceUnavailable',
};

const DISCONNECT_CODES = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT']);

/** Responds to CONNECT, and to data and timeouts of a connection that are not part of a request. */
export function rejectOnSockets(server: Server, log: RequestLog, allow: Allow): void {
  server.on('connect', ({ url = '', headers, socket }) => {
    socket.on('error', () => socket.destroy());
    const methods = allow.of(routableTarget(url));
    const outcome = methods === undefined ? 'notFound' : 'methodNotAllowed';
    afterResponses(socket, () =>
      rejectOnSocket(socket, log, outcome, { id: requestIdOf({ headers }), allow: methods }),
    );
  });

  // Fastify's own listener comes first, and does nothing.
  server.on('clientError', (error: ParserError, socket) => {
    const { code = '' } = error;
    if (DISCONNECT_CODES.has(code)) socket.destroy();
    else rejectUnparsable(socket, log, OUTCOME_OF_CODE[code] ?? 'badRequest', isInHeadRequest(error));
  });

  // The client does not read, or does not send the rest of a request.
  server.on('timeout', (socket) => {
    const isInBody = stateOf(socket).last?.req.complete === false;
    if (isInBody && socket.writableLength === 0) rejectUnparsable(socket, log, 'requestTimeout');
    else socket.destroy();
  });
}

/** An error of Node's HTTP parser, with the bytes received last and the number of those parsed, or of its timers. */
type ParserError = NodeJS.ErrnoException & { rawPacket?: Buffer; bytesParsed?: number };

/** Whether an error is in the headers of a HEAD request; false when they came in several packets. */
function isInHeadRequest({ code, rawPacket, bytesParsed }: ParserError): boolean {
  const read = rawPacket?.toString('latin1', 0, bytesParsed) ?? '';
  const requests = read.split('\r\n\r\n');
  // The headers of a request that is not taken have been parsed to their end.
  const last = requests.at(code === REQUEST_NOT_TAKEN ? -2 : -1);
  return last?.startsWith('HEAD ') === true;
}

/** Ends a connection on which no further request can be parsed, after the responses to the requests before. */
function rejectUnparsable(socket: Connection, log: RequestLog, outcome: OutcomeName, isHead = false): void {
  const state = stateOf(socket);
  const wasClosing = state.isClosing;
  state.isClosing = true;
  const request = state.last?.req;
  // In a body: the one response to its request is pending or finished.
  const isInBody = request !== undefined && !request.complete;
  if (isInBody) failBody(request, new Rejection(outcome));
  // Further data fails to parse again and again, but is rejected once.
  if (wasClosing) return;
  afterResponses(socket, () =>
    isInBody ? linger(socket) : rejectOnSocket(socket, log, outcome, { isHead }),
  );
}

function afterResponses(socket: Connection, proceed: () => void): void {
  const { last, isIdle } = stateOf(socket);
  if (last && !isIdle) last.once('close', proceed);
  else proceed();
}

/** Responds on a socket without a request, and closes it. Responses to HEAD have no content (RFC 9110, section 9.3.2). */
export function rejectOnSocket(
  socket: Connection,
  log: RequestLog,
  outcome: OutcomeName,
  {
    id = newRequestId(),
    allow,
    isHead = false,
  }: { id?: string; allow?: string | undefined; isHead?: boolean } = {},
): void {
  if (!socket.writable) return;
  const { status } = outcomes[outcome];
  const body = JSON.stringify(envelope(outcome, null));
  const headers = {
    date: new Date().toUTCString(),
    ...OUTCOME_HEADERS[outcome],
    [REQUEST_ID_HEADER]: id,
    ...(allow !== undefined && { allow }),
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${isHead ? '' : body}`);
  log.rejected(id, status);
  linger(socket);
}
