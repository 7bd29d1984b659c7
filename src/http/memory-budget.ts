import type { FastifyReply } from 'fastify';
import { isClosed, onClose } from './connections/node-response.ts';

/** The memory that all pending requests may use together for one purpose, in bytes. */
export class MemoryBudget {
  readonly bytesMax: number;
  bytesHeld = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }
}

/** The part of a budget that one request uses. It is released when the response is closed and no work needs it. */
export class Reservation {
  readonly #budget: MemoryBudget;
  readonly #reply: FastifyReply;
  #bytes = 0;
  #isInUse = false;

  constructor(budget: MemoryBudget, reply: FastifyReply) {
    this.#budget = budget;
    this.#reply = reply;
    onClose(reply, () => this.resize(0));
  }

  /** Changes the size, unless the budget is exhausted. @returns whether it did */
  tryResize(bytes: number): boolean {
    if (this.#budget.bytesHeld + bytes - this.#bytes > this.#budget.bytesMax) return false;
    this.resize(bytes);
    return true;
  }

  /** Keeps the size until some work settles, even when the client has disconnected. */
  keepUntil(work: Promise<unknown>): void {
    this.#isInUse = true;
    const end = () => {
      this.#isInUse = false;
      this.resize(this.#bytes);
    };
    work.then(end, end);
  }

  /** Changes the size, even beyond the budget. */
  resize(bytes: number): void {
    if (this.#isInUse) return;
    const held = isClosed(this.#reply) ? 0 : bytes;
    this.#budget.bytesHeld += held - this.#bytes;
    this.#bytes = held;
  }
}
