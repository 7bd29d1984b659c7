import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { LINGER_MS } from '../limits.ts';

/** A connection, and what is remembered of it, on its socket itself: a map beside the sockets costs a request 5 %. */
export interface Connection extends Duplex {
  [MEMORY]?: Memory;
}

const MEMORY = Symbol('memory of a connection');

class Memory {
  /** The answer to the request that came last, whether it is under way or has gone. */
  last: ServerResponse | undefined = undefined;
  /** The answer before, if it was under way when the last request came. */
  before: ServerResponse | undefined = undefined;
  isOver = false;
}

function memoryOf(connection: Connection): Memory {
  connection[MEMORY] ??= new Memory();
  return connection[MEMORY];
}

/** Remembers the answer to the request that came last. */
export function noteAnswer(connection: Connection, response: ServerResponse): void {
  const memory = memoryOf(connection);
  memory.before = isUnderWay(memory.last) ? memory.last : undefined;
  memory.last = response;
}

/** The answer to the request that came last, whether it is under way or has gone. */
export function lastAnswer(connection: Connection): ServerResponse | undefined {
  return memoryOf(connection).last;
}

/** The answer that was under way when the last request came, which did not wait for it. */
export function answerBefore(connection: Connection): ServerResponse | undefined {
  return memoryOf(connection).before;
}

/** Whether everything that was asked on a connection has been answered. */
export function isIdle(connection: Connection): boolean {
  return !isUnderWay(memoryOf(connection).last);
}

/** No further request of this connection will be answered, so none may have an effect (RFC 9112, section 9.6). */
export function takeNoMore(connection: Connection): void {
  memoryOf(connection).isOver = true;
}

/** Whether requests of this connection must not have an effect any more. */
export function isOver(connection: Connection): boolean {
  return memoryOf(connection).isOver;
}

function isUnderWay(response: ServerResponse | undefined): boolean {
  return response !== undefined && !response.writableFinished;
}

/**
 * Ends our side of a connection, and reads on for a while, whatever it is (RFC 9112, section 9.6): a connection cut at
 * once may take along the answers that its client has not read yet.
 */
export function linger(connection: Connection): void {
  takeNoMore(connection);
  // The parser would make requests of it.
  connection.removeAllListeners('data').on('data', () => {});
  if (connection.writable) connection.end();
  connection.resume();
  const timer = setTimeout(() => connection.destroy(), LINGER_MS).unref();
  connection.once('close', () => clearTimeout(timer));
}
