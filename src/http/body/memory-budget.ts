import type { ServerResponse } from 'node:http';

/** Memory that the requests under way may hold together, in bytes. */
export class Budget {
  readonly bytesMax: number;
  bytesHeld = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }
}

/** What one request holds of a budget, at the latest until its response has ended, or its client has gone, and its work is done. */
export class Share {
  readonly #budget: Budget;
  readonly #response: ServerResponse;
  #bytes = 0;
  #isAtWork = false;

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

  /** Goes on holding when the client has gone, until work that needs the memory is done. */
  holdUntil(work: Promise<unknown>): void {
    this.#isAtWork = true;
    const end = () => {
      this.#isAtWork = false;
      this.hold(this.#bytes);
    };
    work.then(end, end);
  }

  /** Holds so many bytes from now on, come what may. */
  hold(bytes: number): void {
    if (this.#isAtWork) return;
    const held = this.#response.closed ? 0 : bytes;
    this.#budget.bytesHeld += held - this.#bytes;
    this.#bytes = held;
  }
}
