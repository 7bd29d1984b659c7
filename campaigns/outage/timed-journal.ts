import { type Ending, Journal, type Wish } from '../journal.ts';

/** A request and how it ended, and when it was sent and ended, in milliseconds of `performance.now()`. */
export interface Exchange {
  readonly wish: Wish;
  readonly startMs: number;
  readonly endMs: number;
  readonly ending: Ending;
}

/** A journal that looks at the clock, too. */
export class TimedJournal extends Journal {
  readonly #exchanges: Exchange[] = [];

  /** What has ended, in this order. */
  get exchanges(): readonly Exchange[] {
    return this.#exchanges;
  }

  override async note(wish: Wish, send: () => Promise<Ending>): Promise<Ending> {
    const startMs = performance.now();
    const ending = await super.note(wish, send);
    this.#exchanges.push({ wish, startMs, endMs: performance.now(), ending });
    return ending;
  }
}
