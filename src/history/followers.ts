import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { DueTimer } from '../changes/due-timer.ts';
import { onClose } from '../http/connections/node-response.ts';
import type { BookHistory, ChangeCursor, ChangePage, ChangeRequest, CursorFault } from './book-history.ts';

/** The interval of polls for changes of other programs, while a follower waits. */
const POLL_MS = 250;
/** The time from a write of this process until a poll, which serves all writes in between. */
const WRITE_DELAY_MS = 10;
/** The followers that are woken in a turn of the event loop, between which other requests get theirs. */
const WOKEN_AT_ONCE = 500;

type ReadChanges = BookHistory['read'];

/** A request that waits for changes. */
interface Follower {
  readonly position: number;
  /** Ends its wait. @param read what reads the next changes; undefined when there are none in time */
  readonly wake: (read?: ReadChanges) => void;
}

/** The requests that wait for changes. They share one poll of the store, and equal ones the read after it. */
export class Followers {
  readonly #history: BookHistory;
  readonly #waiting = new Set<Follower>();
  readonly #timer = new DueTimer(() => void this.#poll());
  /** The last change at the last poll. */
  #last: ChangeCursor | undefined;
  #isPolling = false;
  #isStopping = false;

  constructor(history: BookHistory) {
    this.#history = history;
  }

  /** The number of requests that wait. */
  get count(): number {
    return this.#waiting.size;
  }

  /**
   * Waits for changes after a cursor, and reads them.
   *
   * @returns undefined when there is none until the time is over, the client has disconnected, or the server stops
   */
  async next(
    request: ChangeRequest,
    ms: number,
    reply: FastifyReply,
  ): Promise<ChangePage | CursorFault | undefined> {
    if (this.#isStopping) return undefined;
    const { promise, resolve } = Promise.withResolvers<ReadChanges | undefined>();
    const position = request.after?.position ?? 0;
    const giveUp = () => resolve(undefined);
    const timer = setTimeout(giveUp, ms);
    onClose(reply, giveUp);
    const follower: Follower = { position, wake: resolve };
    this.#waiting.add(follower);
    // At the last change, it can wait for the next poll.
    this.#timer.callIn(position === this.#last?.position ? POLL_MS : WRITE_DELAY_MS);
    const read = await promise;
    clearTimeout(timer);
    this.#waiting.delete(follower);
    return read?.(request);
  }

  /** Called after each write of this process. */
  written(): void {
    if (this.#waiting.size > 0) this.#timer.callIn(WRITE_DELAY_MS);
  }

  stop(): void {
    this.#isStopping = true;
    this.#timer.close();
    for (const follower of this.#waiting) follower.wake();
  }

  async #poll(): Promise<void> {
    if (this.#isPolling) {
      this.#timer.callIn(WRITE_DELAY_MS);
      return;
    }
    this.#isPolling = true;
    // An unavailable store is polled again.
    const last = await this.#history.last().catch(() => undefined);
    if (last) await this.#wake(last);
    this.#isPolling = false;
    if (this.#waiting.size > 0) this.#timer.callIn(POLL_MS);
  }

  /** Wakes the followers before the last change; all of them if the log is another one, as their cursors may be unknown. */
  async #wake(last: ChangeCursor): Promise<void> {
    const { position, nonce } = this.#last ?? last;
    const isOther = last.position < position || (last.position === position && last.nonce !== nonce);
    this.#last = last;
    const read = this.#shareReads();
    const woken = [...this.#waiting].filter(({ position: after }) => after < last.position || isOther);
    for (const [index, follower] of woken.entries()) {
      if (index % WOKEN_AT_ONCE === 0) await nextTurn();
      follower.wake(read);
    }
  }

  /** Performs equal requests once. */
  #shareReads(): ReadChanges {
    const reads = new Map<string, ReturnType<ReadChanges>>();
    return (request) => {
      const key = JSON.stringify(request);
      const page = reads.get(key) ?? this.#history.read(request);
      reads.set(key, page);
      return page;
    };
  }
}
