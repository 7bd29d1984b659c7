import { type Server as Listener, Server, type Socket } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { endWith } from '../answer.ts';
import type { HttpLimits } from '../limits.ts';
import type { RequestLog } from '../request-log.ts';
import { isIdle, isOver, lastAnswer, linger } from './connection-state.ts';
import { refuse } from './rejections.ts';

/** How often a server that is stopping looks for connections that have nothing left to do. */
const LOOK_MS = 50;

/** How far a client has read what it is answered. */
interface Progress {
  /** The bytes that the system has taken off our hands. */
  taken: number;
  /** When there was the last change, in milliseconds of a clock that only goes forward. */
  atMs: number;
}

/** The connections of a server: how many there may be, and when they end. */
export class Connections {
  readonly #limits: HttpLimits;
  readonly #log: RequestLog;
  readonly #open = new Map<Socket, Progress>();
  /** How many connections there have been. */
  #taken = 0;
  #isStopping = false;
  #isDraining = false;

  constructor(app: FastifyInstance, limits: HttpLimits, log: RequestLog) {
    this.#limits = limits;
    this.#log = log;
    app.server.maxConnections = limits.connections + limits.rejectedConnections;
    app.server.on('connection', (socket) => this.#admit(socket));
    const watch = setInterval(() => this.#cutOffStalled(), limits.stallMs / 10).unref();
    app.server.on('close', () => clearInterval(watch));
    this.#endSomeWithTheirAnswer(app);
  }

  /** How many there are: active ones have a request under way. */
  get counts(): { readonly active: number; readonly idle: number } {
    const idle = this.#open.keys().reduce((count, socket) => (isIdle(socket) ? count + 1 : count), 0);
    return { active: this.#open.size - idle, idle };
  }

  /** Whether {@link drain} has been called. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /**
   * For a while all goes on as before, but for {@link isStopping}. Then it takes no new connections. Whatever comes on
   * the others is still answered, as their last answer; who has nothing to send for a while, or takes too long, is sent
   * away. Resolves when all connections are gone.
   */
  async drain(listeners: readonly Listener[]): Promise<void> {
    this.#isStopping = true;
    await sleep(this.#limits.stopDelayMs);
    const startedMs = performance.now();
    const elapsedMs = () => performance.now() - startedMs;
    this.#isDraining = true;
    // Those who wait to be taken would be reset. A turn of the event loop takes one of them.
    for (let taken = -1; taken < this.#taken && elapsedMs() <= this.#limits.graceMs; ) {
      taken = this.#taken;
      await turn();
    }
    // The method of HTTP servers would destroy idle connections, and the requests that are on their way.
    for (const listener of listeners) Server.prototype.close.call(listener);
    while (this.#open.size > 0) {
      // By the next turn everything that has arrived is read, so that no connection with a request counts as idle.
      await turn();
      if (elapsedMs() >= this.#limits.drainMs) this.#cutOff();
      else if (elapsedMs() >= this.#limits.graceMs) this.#endIdle();
      await sleep(LOOK_MS);
    }
  }

  #admit(socket: Socket): void {
    this.#taken++;
    this.#open.set(socket, { taken: 0, atMs: performance.now() });
    socket.once('close', () => this.#open.delete(socket));
    // What Node does behind the last answer would cut off a client that is still sending.
    socket.destroySoon = () => linger(socket);
    if (this.#open.size > this.#limits.connections) refuse(socket, this.#log, 'serviceUnavailable');
  }

  /** Who reads nothing may still send, so that the connection does not seem to stand still. */
  #cutOffStalled(): void {
    const nowMs = performance.now();
    for (const [socket, progress] of this.#open) {
      const isWaitedFor = socket.writableLength > 0;
      const taken = isWaitedFor ? socket.bytesWritten - socket.writableLength : progress.taken;
      if (!isWaitedFor || taken !== progress.taken) Object.assign(progress, { taken, atMs: nowMs });
      else if (nowMs - progress.atMs >= this.#limits.stallMs) socket.destroy();
    }
  }

  /**
   * Some answers are the last on their connection: when the server is stopping, those that no further request waits
   * behind; those to clients that wait for a 100 that never came, as nobody can tell whether their body follows; and
   * those to clients that asked for another protocol, as the parser reads no further request from them.
   */
  #endSomeWithTheirAnswer(app: FastifyInstance): void {
    app.addHook('onSend', ({ raw }, reply, payload, done) => {
      const awaitsContinue = raw.headers.expect !== undefined && reply.statusCode >= 400;
      const wantsUpgrade = raw.headers.upgrade !== undefined;
      if (awaitsContinue || wantsUpgrade) endWith(reply);
      if (!this.#isDraining) {
        done(null, payload);
        return;
      }
      // By the next turn all requests that came together with this one are known.
      setImmediate(() => {
        if (lastAnswer(raw.socket) === reply.raw) endWith(reply);
        done(null, payload);
      });
    });
  }

  #endIdle(): void {
    for (const socket of this.#open.keys()) if (isIdle(socket) && !isOver(socket)) linger(socket);
  }

  #cutOff(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }
}
