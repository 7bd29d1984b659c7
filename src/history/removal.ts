import { setTimeout as sleep } from 'node:timers/promises';
import { REMOVAL_MS } from '../store/limits.ts';
import { DegradablePart, type FailureCause, type StoreObserver } from '../store/observer.ts';

/** The time for other writers between two steps. */
const PAUSE_MS = 20;

/** Removes old changes in small steps, at the start and at intervals. */
export class Removal {
  readonly #removeSome: () => Promise<boolean>;
  readonly #causeOf: (error: unknown) => FailureCause;
  readonly #part: DegradablePart;
  readonly #timer: NodeJS.Timeout;
  #removing: Promise<void> | undefined;
  #isClosed = false;

  /**
   * @param removeSome removes the first old changes. @returns whether there may be more
   * @param causeOf what to report of its errors
   */
  constructor(
    removeSome: () => Promise<boolean>,
    causeOf: (error: unknown) => FailureCause,
    observer: StoreObserver,
  ) {
    this.#removeSome = removeSome;
    this.#causeOf = causeOf;
    this.#part = new DegradablePart('maintenance of the history', observer);
    this.#timer = setInterval(() => this.#start(), REMOVAL_MS).unref();
    this.#start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#removing;
  }

  #start(): void {
    this.#removing ??= this.#remove();
  }

  async #remove(): Promise<void> {
    try {
      while (!this.#isClosed && (await this.#removeSome())) await sleep(PAUSE_MS);
      this.#part.report(undefined);
    } catch (error) {
      if (!this.#isClosed) this.#part.report(this.#causeOf(error));
    } finally {
      this.#removing = undefined;
    }
  }
}
