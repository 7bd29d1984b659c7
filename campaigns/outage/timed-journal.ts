import { Journal, type Operation, type Outcome } from '../journal.ts';

/** A request and its outcome, with start and end in milliseconds of `performance.now()`. */
export interface Exchange {
  readonly operation: Operation;
  readonly startMs: number;
  readonly endMs: number;
  readonly outcome: Outcome;
}

/** A journal with times. */
export class TimedJournal extends Journal {
  readonly #exchanges: Exchange[] = [];

  /** The requests in the order of their ends. */
  get exchanges(): readonly Exchange[] {
    return this.#exchanges;
  }

  override async record(operation: Operation, send: () => Promise<Outcome>): Promise<Outcome> {
    const startMs = performance.now();
    const outcome = await super.record(operation, send);
    this.#exchanges.push({ operation, startMs, endMs: performance.now(), outcome });
    return outcome;
  }
}
