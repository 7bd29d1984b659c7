import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { StoreUnavailable } from '../book/book-store.ts';
import { isClosed, isWritten } from '../http/connections/node-response.ts';
import { type MemoryBudget, Reservation } from '../http/memory-budget.ts';

/** What the responses may use that clients have not read yet. */
export interface UnreadLimits {
  readonly budget: MemoryBudget;
  /** The longest wait of a response for the reading of others. */
  readonly waitMs: number;
}

/** The part of `waitMs` that a response waits for memory. */
const ROOM_WAIT_SHARE = 0.1;
const ROOM_POLL_MS = 10;

/** A response that its client has not read yet. */
export class UnreadResponse {
  readonly #limits: UnreadLimits;
  readonly #reply: FastifyReply;
  readonly #reservation: Reservation;
  readonly #startedMs = performance.now();

  constructor(limits: UnreadLimits, reply: FastifyReply) {
    this.#limits = limits;
    this.#reply = reply;
    this.#reservation = new Reservation(limits.budget, reply);
  }

  /** Whether the operating system has all bytes that the response was given, so that their memory is no longer needed. */
  get isWritten(): boolean {
    return isWritten(this.#reply);
  }

  /** Called just before a part of the response is read. @throws StoreUnavailable when the client has disconnected */
  expectClient(): void {
    if (isClosed(this.#reply)) throw new StoreUnavailable('the client has disconnected');
  }

  /**
   * Called just before the first part is read; it reserves nothing. For example, of 100 requests that see room for 128 KiB, the queue of
   * pages reads a few at a time, and each is counted by {@link hold} before further ones are read.
   *
   * @throws StoreUnavailable when the client has disconnected or waited too long, or others leave no memory for so many bytes
   */
  expectRoom(bytes: number): void {
    this.expectClient();
    const { budget, waitMs } = this.#limits;
    if (performance.now() - this.#startedMs > waitMs)
      throw new StoreUnavailable('others are read for too long');
    if (budget.bytesHeld + bytes > budget.bytesMax) throw exhausted();
  }

  /**
   * Counts so many bytes until the response is sent, after a short wait for clients that are reading theirs. Not for long, as requests
   * that need less memory may wait for this one.
   *
   * @throws StoreUnavailable when the client has disconnected, or others leave no memory for them
   */
  async holdSoon(bytes: number): Promise<void> {
    const { budget, waitMs } = this.#limits;
    const deadline = performance.now() + waitMs * ROOM_WAIT_SHARE;
    while (!this.#reservation.tryResize(bytes)) {
      this.expectClient();
      if (bytes > budget.bytesMax || performance.now() > deadline) throw exhausted();
      await sleep(ROOM_POLL_MS);
    }
  }

  /** Counts so many bytes until the response is sent. @throws StoreUnavailable when others leave no memory for them */
  hold(bytes: number): void {
    if (!this.#reservation.tryResize(bytes)) throw exhausted();
  }
}

function exhausted(): StoreUnavailable {
  return new StoreUnavailable('clients have not read too much');
}
