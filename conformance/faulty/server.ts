import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Api, type Credentials } from './api.ts';
import type { Reply } from './reply.ts';
import type { Planted, Violation } from './violations.ts';

/** A server that meets the contract, except for one planted violation. */
export interface FaultyServer extends AsyncDisposable {
  readonly url: string;
  /** How many logins it has rejected. */
  readonly wrongLogins: number;
}

/** Starts the server on a free port, without books. */
export async function startFaultyServer(
  credentials: Credentials,
  planted?: Violation,
): Promise<FaultyServer> {
  const has: Planted = (violation) => violation === planted;
  const api = new Api(credentials, has);
  const server = http.createServer({ requireHostHeader: false }, (request, response) => {
    api.respond(request).then(
      (reply) => send(request, response, reply, has),
      // The request was cut off: clientError has responded, or the client has disconnected.
      () => request.socket.destroySoon(),
    );
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    if (has('Expect is ignored')) server.emit('request', request, response);
    else send(request, response, { status: 417, message: 'Expectation failed' }, has);
  });
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (!has('100 Continue never comes')) response.writeContinue();
    server.emit('request', request, response);
  });
  server.on('clientError', (error, socket) => reject(error, socket as Socket, has));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get wrongLogins() {
      return api.wrongLogins;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(request: IncomingMessage, response: ServerResponse, reply: Reply, has: Planted): void {
  const isPlain = reply.message === 'Not found' && has('an unknown path gets plain text');
  const text = isPlain ? '404 page not found' : inEnvelope(reply, has);
  const { status } = reply;
  const headers = headersOf(reply, has);
  headers['Content-Length'] = String(Buffer.byteLength(text));
  if (isPlain) headers['Content-Type'] = 'text/plain';

  if (request.method === 'HEAD' && has('HEAD has content')) {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    request.socket.end(`HTTP/1.1 ${status} \r\n${lines.join('')}Connection: close\r\n\r\n${text}`);
    return;
  }
  response.writeHead(status, headers).end(text);
  if (status === 413 && has('413 breaks the connection')) response.socket?.resetAndDestroy();
}

/** Responds to malformed HTTP. */
function reject(error: Error & { code?: string }, socket: Socket, has: Planted): void {
  if (!socket.writable || has('malformed HTTP closes the connection')) {
    socket.destroy();
    return;
  }
  const isTooLong = error.code === 'HPE_HEADER_OVERFLOW' && !has('long headers are a bad request');
  const reply = isTooLong
    ? { status: 431, message: 'Request header fields too large' }
    : { status: 400, message: 'Bad request' };
  const head = `HTTP/1.1 ${reply.status} \r\nContent-Type: application/json\r\nConnection: close`;
  socket.end(`${head}\r\n\r\n${inEnvelope(reply, has)}`);
}

function headersOf({ status, headers = {} }: Reply, has: Planted): Record<string, string> {
  const all: Record<string, string> = { 'Content-Type': 'application/json', ...headers };
  if (has('responses are text/html')) all['Content-Type'] = 'text/html';
  if (has('responses may be cached')) delete all['Cache-Control'];
  if (has('every origin is allowed')) all['Access-Control-Allow-Origin'] = '*';
  if (status === 401 && !has('401 has no challenge')) all['WWW-Authenticate'] = 'Token realm="books"';
  return all;
}

function inEnvelope({ status, message, data = null }: Reply, has: Planted): string {
  if (has('data is missing on errors') && status >= 400) return JSON.stringify({ status, message });
  if (has('the envelope has a fourth key')) return JSON.stringify({ status, message, data, error: null });
  if (has('the keys of the envelope are sorted')) return JSON.stringify({ data, message, status });
  return JSON.stringify({
    status: has('the status in the envelope is always 200') ? 200 : status,
    message: has('a message is off by one letter') ? message.replace('not found', 'not Found') : message,
    data,
  });
}
