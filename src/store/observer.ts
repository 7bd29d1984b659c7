/** Receives measurements and failures of a store, for metrics and logs. */
export interface StoreObserver {
  /** Called once for each kind of operation. @param waiting returns how many calls are queued at present */
  operation(name: string, waiting: () => number): OperationObserver;
  /** Called once for each {@link DegradablePart}. @returns is called with each new failure, and with undefined after recovery */
  part(name: string): (cause: FailureCause | undefined) => void;
  pool(name: string, connections: () => PoolState): void;
}

/** Called after each batch: with its number of calls, its duration and whether it failed. */
export type OperationObserver = (calls: number, ms: number, hasFailed: boolean) => void;

export interface PoolState {
  readonly idle: number;
  readonly used: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
}

/** A short code such as `SQLITE_FULL`, or an error that has none. */
export type FailureCause = string | Error;

/** A component that can fail while the rest of the store works. Each failure and each recovery is passed on once. */
export class DegradablePart {
  readonly #observe: (cause: FailureCause | undefined) => void;
  #cause: FailureCause | undefined;

  constructor(name: string, observer: StoreObserver) {
    this.#observe = observer.part(name);
  }

  /** Reports how the last attempt ended. @param cause undefined if it succeeded */
  report(cause: FailureCause | undefined): void {
    if (`${cause}` === `${this.#cause}`) return;
    this.#cause = cause;
    this.#observe(cause);
  }
}
