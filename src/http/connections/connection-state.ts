import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { LINGER_MS } from '../limits.ts';

/** A socket with the state of its connection as a property: a map beside the sockets would cost a request 5 %. */
export interface Connection extends Duplex {
  [STATE]?: ConnectionState;
}

const STATE = Symbol('state of the connection');

class ConnectionState {
  /** The response to the last request, pending or finished. */
  last: ServerResponse | undefined = undefined;
  /** The response before, if it was pending when the last request came. */
  previous: ServerResponse | undefined = undefined;
  isClosing = false;
}

function stateOf(connection: Connection): ConnectionState {
  connection[STATE] ??= new ConnectionState();
  return connection[STATE];
}

/** Remembers the response to a new request. */
export function trackResponse(connection: Connection, response: ServerResponse): void {
  const state = stateOf(connection);
  state.previous = isPending(state.last) ? state.last : undefined;
  state.last = response;
}

/** The response to the last request, pending or finished. */
export function lastResponse(connection: Connection): ServerResponse | undefined {
  return stateOf(connection).last;
}

/** The response that was pending when the last request came, which was pipelined. */
export function previousResponse(connection: Connection): ServerResponse | undefined {
  return stateOf(connection).previous;
}

/** Whether no response is pending. */
export function isIdle(connection: Connection): boolean {
  return !isPending(stateOf(connection).last);
}

/** No further request on this connection gets a response, so none may have an effect (RFC 9112, section 9.6). */
export function markClosing(connection: Connection): void {
  stateOf(connection).isClosing = true;
}

/** Whether {@link markClosing} was called. */
export function isClosing(connection: Connection): boolean {
  return stateOf(connection).isClosing;
}

function isPending(response: ServerResponse | undefined): boolean {
  return response !== undefined && !response.writableFinished;
}

/**
 * Closes a connection as RFC 9112, section 9.6, asks: ends our side, and discards what the client sends for a while. A
 * connection that is reset at once can lose responses that its client has not read yet.
 */
export function linger(connection: Connection): void {
  markClosing(connection);
  // The parser would make requests of the data.
  connection.removeAllListeners('data').on('data', () => {});
  if (connection.writable) connection.end();
  connection.resume();
  const timer = setTimeout(() => connection.destroy(), LINGER_MS).unref();
  connection.once('close', () => clearTimeout(timer));
}
