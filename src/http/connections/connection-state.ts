import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { LINGER_MS } from '../limits.ts';

/** A socket with the state of its connection as a property: a map beside the sockets would cost a request 5 %. */
export interface Connection extends Duplex {
  [STATE]?: ConnectionState;
  readonly parser?: Parser;
}

/** The parser of a connection, a property that Node does not document. */
interface Parser {
  readonly constructor: { readonly kOnMessageBegin: number };
  /** Called for the headers of each request. @returns 0, or an error */
  onIncoming: (request: IncomingMessage, keepAlive: boolean) => number;
  /** Called at the first byte of each request, of which a blank line is none; its name is `kOnMessageBegin`. */
  [callback: number]: () => void;
}

const STATE = Symbol('state of the connection');

class ConnectionState {
  /** The response to the last request, pending or finished. */
  last: ServerResponse | undefined = undefined;
  /** The number of pipelined requests that wait for the responses before theirs. */
  waiting = 0;
  /** Whether the headers of a request have begun, but not ended: Node limits the time for that. */
  isInHeaders = false;
  /** Whether no further request gets a response, so that none may have an effect (RFC 9112, section 9.6). */
  isClosing = false;

  get isIdle(): boolean {
    return this.last === undefined || this.last.writableFinished;
  }

  /** Adds the response to a request. @returns the response before it, if that is pending */
  add(response: ServerResponse): ServerResponse | undefined {
    const previous = this.isIdle ? undefined : this.last;
    this.last = response;
    return previous;
  }
}

/** The state of a connection, which begins at the first call for it. */
export function stateOf(connection: Connection): ConnectionState {
  connection[STATE] ??= new ConnectionState();
  return connection[STATE];
}

/** Closes the connection after a response that is not sent yet. */
export function closeAfter(reply: FastifyReply): void {
  reply.header('connection', 'close');
  stateOf(reply.request.socket).isClosing = true;
}

/** Ends our side and discards what the client sends: a reset could lose unread responses (RFC 9112, section 9.6). */
export function linger(connection: Connection): void {
  stateOf(connection).isClosing = true;
  // The parser would parse the data as requests.
  connection.removeAllListeners('data').on('data', () => {});
  if (connection.writable) connection.end();
  connection.resume();
  const timer = setTimeout(() => connection.destroy(), LINGER_MS).unref();
  connection.once('close', () => clearTimeout(timer));
}
