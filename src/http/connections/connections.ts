import type { ServerResponse } from 'node:http';
import { type Server as Listener, Server, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpLimits } from '../limits.ts';
import type { RequestLog } from '../request-log.ts';
import { closeAfter, linger, stateOf } from './connection-state.ts';
import { rejectOnSocket } from './socket-rejections.ts';

/** The interval at which a stopping server looks for idle connections. */
const POLL_MS = 50;

/** The activity of a connection, with times on the monotonic clock. */
interface Activity {
  /** The bytes sent to the client, and the time of their last change. */
  sent: number;
  atMs: number;
  /** The last response while it is finished and no request follows, and the time at which that was noticed. */
  last: ServerResponse | undefined;
  idleAtMs: number;
}

/** The connections of a server: limits their number, and closes them when they stall or the server stops. */
export class Connections {
  readonly #limits: HttpLimits;
  readonly #log: RequestLog;
  readonly #open = new Map<Socket, Activity>();
  #accepted = 0;
  /** Called when the server no longer waits for anything but responses. */
  readonly drainListeners: (() => void)[] = [];
  #isDraining = false;
  /** Whether {@link drain} has been called. */
  isStopping = false;

  constructor(server: Server, limits: HttpLimits, log: RequestLog) {
    this.#limits = limits;
    this.#log = log;
    server.maxConnections = limits.connections + limits.rejectedConnections;
    server.on('connection', (socket) => this.#admit(socket));
    const watches = [
      setInterval(() => this.#destroyStalled(), limits.stallMs / 10).unref(),
      setInterval(() => this.#closeIdle(), limits.idleMs / 40).unref(),
    ];
    server.on('close', () => watches.forEach(clearInterval));
  }

  /** The number of connections; active ones have a pending response. */
  get counts(): { readonly active: number; readonly idle: number } {
    const idle = this.#open.keys().reduce((count, socket) => count + Number(stateOf(socket).isIdle), 0);
    return { active: this.#open.size - idle, idle };
  }

  /** Closes all connections in the steps of `stopDelayMs`, `graceMs` and `drainMs` (see {@link HttpLimits}). */
  async drain(listeners: readonly Listener[]): Promise<void> {
    const { stopDelayMs, graceMs, drainMs } = this.#limits;
    this.isStopping = true;
    await sleep(stopDelayMs);
    const startedMs = performance.now();
    const elapsedMs = () => performance.now() - startedMs;
    this.#isDraining = true;
    for (const listener of this.drainListeners) listener();
    // Connections in the backlog would be reset. Each turn of the event loop accepts one of them.
    for (let accepted = -1; accepted < this.#accepted && elapsedMs() <= graceMs; ) {
      accepted = this.#accepted;
      await nextTurn();
    }
    // The close() of HTTP servers would destroy idle connections, whose next request may be on its way.
    for (const listener of listeners) Server.prototype.close.call(listener);
    while (this.#open.size > 0) {
      // In the next turn all received data has been read, so that no connection with a request counts as idle.
      await nextTurn();
      for (const socket of this.#open.keys()) {
        const { isIdle, isClosing } = stateOf(socket);
        if (elapsedMs() >= drainMs) socket.destroy();
        else if (elapsedMs() >= graceMs && isIdle && !isClosing) linger(socket);
      }
      await sleep(POLL_MS);
    }
  }

  #admit(socket: Socket): void {
    this.#accepted++;
    this.#open.set(socket, { sent: 0, atMs: performance.now(), last: undefined, idleAtMs: 0 });
    socket.once('close', () => this.#open.delete(socket));
    // After the last response Node would reset the connection of a client that is still sending.
    socket.destroySoon = () => linger(socket);
    if (this.#open.size > this.#limits.connections) rejectOnSocket(socket, this.#log, 'serviceUnavailable');
  }

  /** The timeout of a socket does not detect a client that sends, but does not read. */
  #destroyStalled(): void {
    const nowMs = performance.now();
    for (const [socket, activity] of this.#open) {
      const isSending = socket.writableLength > 0;
      const sent = isSending ? socket.bytesWritten - socket.writableLength : activity.sent;
      if (!isSending || sent !== activity.sent) Object.assign(activity, { sent, atMs: nowMs });
      else if (nowMs - activity.atMs >= this.#limits.stallMs) socket.destroy();
    }
  }

  /** The timeout of a socket does not detect a stranger that sends blank lines, which are no request. */
  #closeIdle(): void {
    const nowMs = performance.now();
    for (const [socket, activity] of this.#open) {
      const { isIdle, isClosing, isInHeaders, last } = stateOf(socket);
      // Before the first request, Node limits the time for headers.
      if (!isIdle || isClosing || isInHeaders || last === undefined) continue;
      if (activity.last !== last) Object.assign(activity, { last, idleAtMs: nowMs });
      else if (nowMs - activity.idleAtMs >= this.#limits.idleMs) linger(socket);
    }
  }

  /**
   * A hook that closes a connection after the last pending response when the server is stopping; after an error of a request with
   * Expect, as the client may or may not send the body; and after an Upgrade, as the parser reads no further request.
   */
  readonly closeAfterSomeResponses = (
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    done: (error: null, payload: unknown) => void,
  ): void => {
    const { headers } = request;
    const mayAwaitContinue = headers.expect !== undefined && reply.statusCode >= 400;
    if (mayAwaitContinue || headers.upgrade !== undefined) closeAfter(reply);
    if (!this.#isDraining) {
      done(null, payload);
      return;
    }
    // After two turns all pipelined requests are known: the connection may have been resumed with this request.
    setImmediate(() =>
      setImmediate(() => {
        if (stateOf(request.socket).last === reply.raw) closeAfter(reply);
        done(null, payload);
      }),
    );
  };
}
