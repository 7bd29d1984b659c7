import { setTimeout as sleep } from 'node:timers/promises';
import { REMOVAL_MS } from '../store/limits.ts';
import { DegradablePart, type FailureCause, type StoreObserver } from '../store/observer.ts';

/** The time for other writers between two steps. */
const PAUSE_MS = 20;

/** Maintains the log of changes in small steps, at the start and at intervals: removes old changes, and on SQLite indexes the next ones. */
export class Maintenance {
  readonly #step: () => Promise<boolean>;
  readonly #causeOf: (error: unknown) => FailureCause;
  readonly #part: DegradablePart;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;
  #isClosed = false;

  /**
   * @param step returns whether more may be to be done
   * @param causeOf what to report of its errors
   */
  constructor(
    step: () => Promise<boolean>,
    causeOf: (error: unknown) => FailureCause,
    observer: StoreObserver,
  ) {
    this.#step = step;
    this.#causeOf = causeOf;
    this.#part = new DegradablePart('maintenance of the history', observer);
    this.#timer = setInterval(() => this.#start(), REMOVAL_MS).unref();
    this.#start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  #start(): void {
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    try {
      while (!this.#isClosed && (await this.#step())) await sleep(PAUSE_MS);
      this.#part.report(undefined);
    } catch (error) {
      if (!this.#isClosed) this.#part.report(this.#causeOf(error));
    } finally {
      this.#running = undefined;
    }
  }
}
