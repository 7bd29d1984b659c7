import { setTimeout as sleep } from 'node:timers/promises';

/** Far longer than any progress takes, on any machine. */
const PROGRESS_MS_MAX = 120_000;

/** Loops that run concurrently until they are stopped. An error in one of them is thrown by the methods. */
export class Loops {
  readonly #controller = new AbortController();
  readonly #all: Promise<unknown>;
  /** Rejects when a loop fails, and never resolves. */
  readonly #failure: Promise<never>;

  /** Starts them. Each ends soon after its signal is aborted. */
  constructor(loops: readonly ((signal: AbortSignal) => Promise<void>)[]) {
    this.#all = Promise.all(loops.map((loop) => loop(this.#controller.signal)));
    this.#failure = this.#all.then(() => new Promise<never>(() => {}));
    this.#failure.catch(() => {});
  }

  /** Resolves after this time. */
  async run(ms: number): Promise<void> {
    await Promise.race([sleep(ms), this.#failure]);
  }

  /** Resolves when the condition is met. @throws Error when that takes too long */
  async until(isMet: () => boolean): Promise<void> {
    const deadline = performance.now() + PROGRESS_MS_MAX;
    while (!isMet()) {
      if (performance.now() > deadline) throw new Error('the service makes no progress');
      await this.run(2);
    }
  }

  /** Stops them; resolves when all have ended. */
  async stop(): Promise<void> {
    this.#controller.abort();
    await this.#all;
  }
}
