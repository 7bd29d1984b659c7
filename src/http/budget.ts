import type { ServerResponse } from 'node:http';

/** Memory that the requests under way may hold together, in bytes. */
export class Budget {
  readonly bytesMax: number;
  bytesHeld = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }
}

/** What one request holds of a budget, at the latest until its answer has gone, or its client. */
export class Share {
  readonly #budget: Budget;
  readonly #response: ServerResponse;
  #bytes = 0;

  constructor(budget: Budget, response: ServerResponse) {
    this.#budget = budget;
    this.#response = response;
    response.once('close', () => this.hold(0));
  }

  /** Holds so many bytes from now on, unless there is no room for them. @returns whether there was */
  take(bytes: number): boolean {
    if (this.#budget.bytesHeld + bytes - this.#bytes > this.#budget.bytesMax) return false;
    this.hold(bytes);
    return true;
  }

  /** Holds so many bytes from now on, come what may. */
  hold(bytes: number): void {
    const held = this.#response.closed ? 0 : bytes;
    this.#budget.bytesHeld += held - this.#bytes;
    this.#bytes = held;
  }
}
