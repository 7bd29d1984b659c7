import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Aborts on the first SIGINT or SIGTERM. Further ones are ignored: npm forwards what the process group has received. */
export class Interruption implements Disposable {
  readonly #controller = new AbortController();
  readonly signal = this.#controller.signal;
  /** 128 and the number of the signal, as in shells; undefined before. */
  exitCode: number | undefined;

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#interrupt);
  }

  [Symbol.dispose](): void {
    for (const signal of SIGNALS) process.off(signal, this.#interrupt);
  }

  readonly #interrupt = (signal: NodeJS.Signals): void => {
    this.exitCode ??= 128 + constants.signals[signal];
    this.#controller.abort();
  };
}
