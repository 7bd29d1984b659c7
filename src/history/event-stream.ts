import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailable } from '../book/book-store.ts';
import type { Change, ChangeCursor, ChangePage } from './book-history.ts';
import type { Followers } from './followers.ts';
import { eventsOf, keyOf } from './rendering.ts';
import type { HeldBytes, SharedBytes } from './shared-bytes.ts';

/** The longest time without an event; then a comment is sent, so that proxies keep the connection. */
const COMMENT_MS = 15_000;
/** The time until a stream reads from an unavailable store again. */
const RETRY_MS = 1_000;

const COMMENT = Buffer.from(':\n\n');
const NOTHING = Buffer.alloc(0);
const END = { value: undefined, done: true } as const;

interface EventStreamOptions {
  readonly followers: Followers;
  readonly shared: SharedBytes;
  readonly response: ServerResponse;
  readonly limit: number;
  /** The time for which the token is still valid. */
  readonly remainingMs: () => number;
}

/**
 * The changes as server-sent events. The stream ends when the token expires, the server stops, the memory is exhausted or the
 * cursor is no longer valid: the next request of the client gets the error.
 *
 * It is no generator: the variables of a generator that waits keep what they last had, such as a long book.
 */
export class EventStream implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #options: EventStreamOptions;
  #after: ChangeCursor | undefined;
  /** Those to send next. */
  #changes: readonly Change[];
  /** The events that are being sent. */
  #held: HeldBytes | undefined;
  #hasBegun = false;

  /** @param first the page of the request */
  constructor(options: EventStreamOptions, first: ChangePage) {
    this.#options = options;
    this.#changes = first.changes;
    this.#after = first.next;
    options.followers.reached(first.next, options.response);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const { followers, response, limit, remainingMs } = this.#options;
    // The headers are sent with the first part.
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      return { value: COMMENT };
    }
    if (response.writableLength > 0) await flushed(response);
    this.#held?.release();
    this.#held = undefined;
    const commentAt = performance.now() + COMMENT_MS;
    while (!followers.isStopping && !response.closed && remainingMs() > 0) {
      if (this.#changes.length > 0) {
        const value = this.#nextEvents();
        return value ? { value } : END;
      }
      const waitMs = Math.min(commentAt - performance.now(), remainingMs());
      if (waitMs <= 0) return { value: COMMENT };
      try {
        const page = await followers.next({ after: this.#after, limit }, waitMs, response);
        if (typeof page === 'string') return END;
        this.#changes = page?.changes ?? [];
        this.#after = page?.next ?? this.#after;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        await sleep(RETRY_MS);
      }
    }
    return END;
  }

  /** @returns undefined when the memory is exhausted */
  #nextEvents(): Uint8Array | undefined {
    const { shared, response } = this.#options;
    const changes = this.#changes;
    this.#changes = [];
    this.#held = shared.hold(`events ${keyOf(changes)}`, () => eventsOf(changes), response);
    return this.#held?.bytes;
  }
}

/** Waits until the client, or the system for it, has taken what was written. */
async function flushed(response: ServerResponse): Promise<void> {
  if (response.closed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once('close', resolve);
  response.write(NOTHING, () => resolve());
  await promise;
  response.off('close', resolve);
}
