import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { type HttpLimits, WAITING_REQUESTS_MAX } from '../limits.ts';
import { type Connection, stateOf } from './connection-state.ts';

/** The error code of Node's parser when the callback for a request fails, as {@link limitRequests} makes it. */
export const REQUEST_NOT_TAKEN = 'HPE_CB_HEADERS_COMPLETE';

/**
 * Routes pipelined requests one after the other: their effects have their order (RFC 9112, section 9.3.2), none has an effect
 * after the last response of the connection, and one response at a time waits for the client to read it. Until it is routed, a
 * request takes the memory that Node gives it, but none of Fastify's. All connections with waiting requests share the
 * {@link RoutingQueue}, so that pipelining delays nobody else: a request that is not pipelined is routed at once.
 */
export function routeInOrder(app: FastifyInstance, limits: HttpLimits): void {
  const { server } = app;
  const all = { count: 0, max: limits.waitingRequests };
  const queue = new RoutingQueue();
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
    all.count++;
    // Node resumes reading after each request that it has parsed, in a callback that precedes microtasks.
    queueMicrotask(() => {
      if (state.waiting > 0) socket.pause();
    });
    const route = () => {
      if (!socket.writable) return false;
      state.waiting--;
      all.count--;
      if (state.waiting === 0) socket.resume();
      app.routing(request, response);
      return true;
    };
    previous.once('close', () => queue.add(route));
  });
  server.on('connection', (socket: Connection) => {
    limitRequests(socket, all);
    // They are not routed.
    socket.once('close', () => {
      all.count -= stateOf(socket).waiting;
    });
  });
}

/**
 * Routes one waiting request in each turn of the event loop, first come, first served. A turn accepts one connection: were it to
 * take a request of every connection, a new client would wait for nearly all requests that strangers have pipelined.
 */
class RoutingQueue {
  /** For each connection whose next request can be routed: routes it. @returns false when the connection has ended */
  readonly #queue: (() => boolean)[] = [];

  add(route: () => boolean): void {
    if (this.#queue.push(route) === 1) setImmediate(this.#routeNext);
  }

  readonly #routeNext = () => {
    for (let isRouted = false; !isRouted && this.#queue.length > 0; this.#queue.shift())
      isRouted = this.#queue[0]?.() === true;
    if (this.#queue.length > 0) setImmediate(this.#routeNext);
  };
}

/**
 * Makes the parser fail at a request beyond {@link WAITING_REQUESTS_MAX} or `waitingRequests`, or after the last one of the connection. A
 * pause of the socket or the parser would not suffice: one read of 64 KiB may contain 2,500 requests, and Node makes request and response
 * of each before the first one is routed. These limits are for the stranger without a token.
 */
function limitRequests(socket: Connection, all: { readonly count: number; readonly max: number }): void {
  const { parser } = socket;
  if (!parser) return;
  const state = stateOf(socket);
  parser[parser.constructor.kOnMessageBegin] = () => {
    state.isInHeaders = true;
  };
  const { onIncoming } = parser;
  parser.onIncoming = (request, keepAlive) => {
    state.isInHeaders = false;
    const isFull = state.waiting >= WAITING_REQUESTS_MAX || all.count >= all.max;
    return state.isClosing || (isFull && !state.isIdle) ? FAILURE : onIncoming(request, keepAlive);
  };
}

const FAILURE = -1;
