import { DueTimer } from '../../changes/due-timer.ts';
import { DegradablePart, type FailureCause, type StoreObserver } from '../../store/observer.ts';
import { causeOf } from '../../store/sqlite/errors.ts';
import { LazyThread } from '../../store/sqlite/threads/thread-client.ts';
import type { Step } from './index-thread.ts';
import type { Progress } from './index-updater.ts';

const INDEX_THREAD = new URL('./index-thread.ts', import.meta.url);

/** The interval of polls for writes of other programs. */
const POLL_MS = 250;
/** The time from a write of this process until a step, which serves all writes in between: many at a time cost less. */
const WRITE_DELAY_MS = 200;
/** The pause after a step that has failed. */
const RETRY_MS = 1_000;

/** Has a thread bring the index up to date: after writes of this process, for searches that wait, and at intervals. */
export class IndexFollower {
  readonly #thread: LazyThread<Step, Progress>;
  readonly #part: DegradablePart;
  readonly #timer = new DueTimer(() => void this.step());
  #stepping: Promise<void> | undefined;
  #hasStarted = false;
  #isClosed = false;
  #isDamaged = false;
  /** Of the last step; undefined before the first one. */
  percent: number | undefined;
  /** Why the last step has failed. */
  failure: string | undefined;

  /** @param path the file of the books */
  constructor(path: string, observer: StoreObserver) {
    this.#thread = new LazyThread(INDEX_THREAD, path, 'index thread', observer);
    this.#part = new DegradablePart('search index', observer);
  }

  /** Tells that this process has written. Without an index, nothing is to be done. */
  written(): void {
    if (this.#hasStarted) this.#timer.callIn(WRITE_DELAY_MS);
  }

  /** Starts to follow; runs one step, or waits for the one that is running. */
  async step(): Promise<void> {
    // The running one began before a search has found the damage.
    if (this.#isDamaged) await this.#stepping;
    this.#hasStarted = true;
    this.#timer.cancel();
    this.#stepping ??= this.#step();
    await this.#stepping;
  }

  /** Tells that a search has found the index damaged. */
  reportDamage(): void {
    this.#isDamaged = true;
    this.#part.report('damaged');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer.close();
    await this.#stepping;
    await this.#thread.close();
  }

  async #step(): Promise<void> {
    let pauseMs = RETRY_MS;
    const isDamaged = this.#isDamaged;
    this.#isDamaged = false;
    try {
      const { isCurrent, percent, wasDamaged } = await this.#thread.send({ isDamaged });
      this.percent = percent;
      this.failure = undefined;
      this.#part.report(wasDamaged ? 'damaged' : undefined);
      pauseMs = isCurrent ? POLL_MS : 0;
    } catch (error) {
      this.fail(causeOf(error));
    } finally {
      this.#stepping = undefined;
      this.#timer.callIn(pauseMs);
    }
  }

  /** Reports why the index cannot be used, or that it can again. */
  fail(cause: FailureCause | undefined): void {
    if (this.#isClosed) return;
    this.#part.report(cause);
    this.failure = cause instanceof Error ? 'a defect' : cause;
  }
}
