import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Aborts on the first SIGINT, SIGTERM or SIGHUP. Further ones are ignored until the process has ended: npm forwards what the process
 * group has received, and the second may arrive when the command is done.
 */
export class Interruption {
  readonly #controller = new AbortController();
  readonly signal = this.#controller.signal;
  /** 128 and the number of the signal, as in shells; undefined before. */
  exitCode: number | undefined;

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#interrupt);
    // When nothing is left to do, Node would restore the default action of signals, and some milliseconds later end.
    process.once('beforeExit', (code) => process.exit(code));
  }

  readonly #interrupt = (signal: NodeJS.Signals): void => {
    this.exitCode ??= 128 + constants.signals[signal];
    this.#controller.abort();
  };
}
