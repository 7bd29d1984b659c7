import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BookHistory, ChangeCursor, ChangePage, ChangeRequest, CursorFault } from './book-history.ts';

/** The interval of polls for changes of other programs, while a follower waits. */
const POLL_MS = 250;
/** The time from a write of this process until a poll, which serves all writes in between. */
const WRITE_DELAY_MS = 10;
/** The followers that are woken in a turn of the event loop, between which other requests get theirs. */
const WOKEN_AT_ONCE = 500;

type Read = BookHistory['read'];

/** A request that follows the changes, until its response is closed. */
interface Follower {
  position: number;
  /** Ends its wait. @param read what reads the next changes; undefined when there are none in time */
  wake: (read?: Read) => void;
}

/** The requests that follow the changes. Those that wait share one poll of the store, and equal ones the read after it. */
export class Followers {
  readonly #history: BookHistory;
  readonly #followers = new Map<ServerResponse, Follower>();
  readonly #waiting = new Set<Follower>();
  /** The last change at the last poll. */
  #last: ChangeCursor | undefined;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  #isPolling = false;
  isStopping = false;

  constructor(history: BookHistory) {
    this.#history = history;
  }

  /** The number of followers, and how many positions the slowest of them is behind the last change. */
  get state(): { readonly count: number; readonly behind: number } {
    const last = this.#last?.position ?? 0;
    let behind = 0;
    for (const { position } of this.#followers.values()) behind = Math.max(behind, last - position);
    return { count: this.#followers.size, behind };
  }

  /** Records the cursor of a follower. */
  reached(cursor: ChangeCursor | undefined, response: ServerResponse): void {
    const position = cursor?.position ?? 0;
    const follower = this.#followers.get(response);
    if (follower) follower.position = position;
    else if (!response.closed) this.#add({ position, wake: () => {} }, response);
  }

  #add(follower: Follower, response: ServerResponse): void {
    this.#followers.set(response, follower);
    response.once('close', () => {
      this.#followers.delete(response);
      follower.wake();
    });
  }

  /**
   * Waits for changes after the cursor of a follower, and reads them.
   *
   * @returns undefined when there is none until the time is over, the client has disconnected, or the server stops
   */
  next(
    request: ChangeRequest,
    ms: number,
    response: ServerResponse,
  ): Promise<ChangePage | CursorFault | undefined> {
    this.reached(request.after, response);
    return this.#wait(ms, response).then((read) => read?.(request));
  }

  /** Called after each write of this process. */
  written(): void {
    if (this.#followers.size > 0) this.#pollIn(WRITE_DELAY_MS);
  }

  stop(): void {
    this.isStopping = true;
    clearTimeout(this.#timer);
    for (const follower of this.#waiting) follower.wake();
  }

  #wait(ms: number, response: ServerResponse): Promise<Read | undefined> {
    const follower = this.#followers.get(response);
    if (this.isStopping || !follower) return Promise.resolve(undefined);
    const { promise, resolve } = Promise.withResolvers<Read | undefined>();
    const timer = setTimeout(() => follower.wake(), ms);
    follower.wake = (read) => {
      clearTimeout(timer);
      this.#waiting.delete(follower);
      resolve(read);
    };
    this.#waiting.add(follower);
    // At the last change, it can wait for the next poll.
    this.#pollIn(follower.position === this.#last?.position ? POLL_MS : WRITE_DELAY_MS);
    return promise;
  }

  #pollIn(ms: number): void {
    const dueAt = performance.now() + ms;
    if (this.isStopping || dueAt >= this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    this.#timer = setTimeout(() => void this.#poll(), ms);
  }

  async #poll(): Promise<void> {
    this.#dueAt = Number.POSITIVE_INFINITY;
    if (this.#isPolling) {
      this.#pollIn(WRITE_DELAY_MS);
      return;
    }
    this.#isPolling = true;
    // An unavailable store is polled again.
    const last = await this.#history.last().catch(() => undefined);
    if (last) await this.#wake(last);
    this.#isPolling = false;
    if (this.#waiting.size > 0) this.#pollIn(POLL_MS);
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
  #shareReads(): Read {
    const reads = new Map<string, ReturnType<Read>>();
    return (request) => {
      const key = JSON.stringify(request);
      const page = reads.get(key) ?? this.#history.read(request);
      reads.set(key, page);
      return page;
    };
  }
}
