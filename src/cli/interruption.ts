import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Turns the first SIGINT or SIGTERM into an `AbortSignal`. Further ones are ignored: npm forwards a signal that the
 * process group received already.
 */
export class Interruption implements Disposable {
  readonly #controller = new AbortController();
  #exitCode: number | undefined;

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#interrupt);
  }

  /** Aborted by the first signal. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** 128 and the number of the signal, as in shells; undefined before. */
  get exitCode(): number | undefined {
    return this.#exitCode;
  }

  [Symbol.dispose](): void {
    for (const signal of SIGNALS) process.off(signal, this.#interrupt);
  }

  readonly #interrupt = (signal: NodeJS.Signals): void => {
    this.#exitCode ??= 128 + constants.signals[signal];
    this.#controller.abort();
  };
}
