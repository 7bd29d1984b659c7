import type { ServerResponse } from 'node:http';

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
  readonly #response: ServerResponse;
  #bytes = 0;
  #isInUse = false;

  constructor(budget: MemoryBudget, response: ServerResponse) {
    this.#budget = budget;
    this.#response = response;
    response.once('close', () => this.resize(0));
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
    const held = this.#response.closed ? 0 : bytes;
    this.#budget.bytesHeld += held - this.#bytes;
    this.#bytes = held;
  }
}
