import type { ServerResponse } from 'node:http';
import type { BookHistory } from '../../book/book-history.ts';

/** The interval of polls for changes of other programs, while a follower waits. */
const POLL_MS = 250;
/** The time from a write of this process until a poll, which serves all writes in between. */
const WRITE_DELAY_MS = 10;

/** The requests that follow the changes. Those that wait share one poll of the store. */
export class Followers {
  readonly #history: BookHistory;
  /** The position of each of them. */
  readonly #positions = new Map<ServerResponse, number>();
  readonly #waiting = new Map<(hasChange: boolean) => void, number>();
  #last = 0;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  #isPolling = false;
  isStopping = false;

  constructor(history: BookHistory) {
    this.#history = history;
  }

  /** The number of followers, and how many positions the slowest of them is behind the last change. */
  get state(): { readonly count: number; readonly behind: number } {
    const lowest = Math.min(this.#last, ...this.#positions.values());
    return { count: this.#positions.size, behind: this.#last - lowest };
  }

  /** Records the position of a follower until its response is closed. @param last that of the last change */
  reached(position: number, last: number, response: ServerResponse): void {
    if (response.closed) return;
    this.#last = Math.max(this.#last, last);
    if (!this.#positions.has(response)) response.once('close', () => this.#positions.delete(response));
    this.#positions.set(response, position);
  }

  /**
   * Waits for a change after a position, until the time is over, the client has disconnected, or the server stops.
   *
   * @returns whether there is one
   */
  async wait(position: number, ms: number, response: ServerResponse): Promise<boolean> {
    if (this.isStopping || response.closed) return false;
    const { promise, resolve: wake } = Promise.withResolvers<boolean>();
    const giveUp = () => wake(false);
    this.#waiting.set(wake, position);
    const timer = setTimeout(giveUp, ms);
    response.once('close', giveUp);
    this.#pollIn(WRITE_DELAY_MS);
    const hasChange = await promise;
    clearTimeout(timer);
    response.off('close', giveUp);
    this.#waiting.delete(wake);
    return hasChange;
  }

  /** Called after each write of this process. */
  written(): void {
    if (this.#waiting.size > 0) this.#pollIn(WRITE_DELAY_MS);
  }

  stop(): void {
    this.isStopping = true;
    clearTimeout(this.#timer);
    for (const wake of this.#waiting.keys()) wake(false);
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
    this.#last = await this.#history.last().catch(() => this.#last);
    this.#isPolling = false;
    for (const [wake, position] of this.#waiting) if (position < this.#last) wake(true);
    if (this.#waiting.size > 0) this.#pollIn(POLL_MS);
  }
}
