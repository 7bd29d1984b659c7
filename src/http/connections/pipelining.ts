import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { WAITING_REQUESTS_MAX } from '../limits.ts';
import { stateOf } from './connection-state.ts';

/** The error code of Node's parser when the callback for a request fails, as {@link limitRequests} makes it. */
export const REQUEST_NOT_TAKEN = 'HPE_CB_HEADERS_COMPLETE';

/**
 * Routes pipelined requests one after the other: their effects have their order (RFC 9112, section 9.3.2), none has an effect
 * after the last response of the connection, and one response at a time waits for the client to read it. Until its turn a
 * request takes the memory that Node gives it, but none of Fastify's.
 */
export function routeInOrder(app: FastifyInstance): void {
  const { server } = app;
  // Fastify's own listener is `routing`.
  server.removeAllListeners('request').on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const state = stateOf(socket);
    const previous = state.add(response);
    if (!previous) {
      app.routing(request, response);
      return;
    }
    state.waiting++;
    // Node resumes reading after each request that it has parsed, in a callback that precedes microtasks.
    queueMicrotask(() => {
      if (state.waiting > 0) socket.pause();
    });
    const takeTurn = () => {
      state.waiting--;
      if (!socket.writable) return;
      if (state.waiting === 0) socket.resume();
      app.routing(request, response);
    };
    // In the next turn of the event loop, so that other connections are served between two pipelined requests.
    previous.once('close', () => setImmediate(takeTurn));
  });
  server.on('connection', limitRequests);
}

/**
 * Makes the parser fail at a request beyond {@link WAITING_REQUESTS_MAX}, or after the last one of the connection. A pause of
 * the socket or the parser would not suffice: one read of 64 KiB may contain 2,500 requests, and Node makes request and
 * response of each before the first one is routed. This limit is for the stranger without a token.
 */
function limitRequests(socket: Socket & { parser?: Parser }): void {
  const { parser } = socket;
  if (!parser) return;
  const state = stateOf(socket);
  const { onIncoming } = parser;
  parser.onIncoming = (request, keepAlive) =>
    state.isClosing || state.waiting >= WAITING_REQUESTS_MAX ? FAILURE : onIncoming(request, keepAlive);
}

/** The parser of a connection, a property that Node does not document. */
interface Parser {
  /** Called for the headers of each request. @returns 0, or an error */
  onIncoming: (request: IncomingMessage, keepAlive: boolean) => number;
}

const FAILURE = -1;
