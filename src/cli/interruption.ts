import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Lets a command end in its own time when it is interrupted. A further signal changes nothing: npm passes on what the
 * whole process group got.
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

  /** The exit code of an interrupted process, as shells count it: 128 and the number of the signal. */
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
