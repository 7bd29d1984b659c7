import type { ServerResponse } from 'node:http';
import type { BookHistory } from '../../book/book-history.ts';

/** The interval at which the store is asked for changes of other programs, while a follower waits. */
const POLL_MS = 250;
/** The time after a write of this process until the store is asked: many writes are one question. */
const WRITE_DELAY_MS = 10;

/** The requests that follow the changes. Those that wait share one question to the store. */
export class Followers {
  readonly #history: BookHistory;
  /** The positions that each of them has reached. */
  readonly #positions = new Map<ServerResponse, number>();
  readonly #waiting = new Map<() => void, number>();
  #last = 0;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  #isAsking = false;
  isStopping = false;

  constructor(history: BookHistory) {
    this.#history = history;
  }

  /** The number of followers, and how many changes the last of them has not got yet. */
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

  /** Waits for a change after a position, until the time is over, the client has disconnected, or the server stops. */
  async wait(position: number, ms: number, response: ServerResponse): Promise<void> {
    if (this.isStopping || response.closed) return;
    const { promise, resolve: wake } = Promise.withResolvers<void>();
    this.#waiting.set(wake, position);
    const timer = setTimeout(wake, ms);
    response.once('close', wake);
    this.#askIn(WRITE_DELAY_MS);
    await promise;
    clearTimeout(timer);
    response.off('close', wake);
    this.#waiting.delete(wake);
  }

  /** Called after each write of this process. */
  written(): void {
    if (this.#waiting.size > 0) this.#askIn(WRITE_DELAY_MS);
  }

  stop(): void {
    this.isStopping = true;
    clearTimeout(this.#timer);
    for (const wake of this.#waiting.keys()) wake();
  }

  #askIn(ms: number): void {
    const dueAt = performance.now() + ms;
    if (this.isStopping || dueAt >= this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    this.#timer = setTimeout(() => void this.#ask(), ms);
  }

  async #ask(): Promise<void> {
    this.#dueAt = Number.POSITIVE_INFINITY;
    if (this.#isAsking) {
      this.#askIn(WRITE_DELAY_MS);
      return;
    }
    this.#isAsking = true;
    // An unavailable store is asked again.
    this.#last = await this.#history.last().catch(() => this.#last);
    this.#isAsking = false;
    for (const [wake, position] of this.#waiting) if (position < this.#last) wake();
    if (this.#waiting.size > 0) this.#askIn(POLL_MS);
  }
}
