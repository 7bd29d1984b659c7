/** Who wants to know what a store does. Nothing depends on it. */
export interface StoreObserver {
  /**
   * Told once of every kind of call that has trips.
   *
   * @param waiting how many calls wait for a trip at present
   * @returns who is told of its trips
   */
  operation(name: string, waiting: () => number): TripObserver;
  /**
   * Told once of every part of the store that can fail while the others work.
   *
   * @returns is told of each failure of it that was not there before, and of its end: undefined
   */
  part(name: string): (cause: FailureCause | undefined) => void;
  /** Told once of every pool of connections to a server. */
  pool(name: string, connections: () => PoolState): void;
}

/** Told of every trip when it is back: of how many calls it was, how long it took, and whether it failed. */
export type TripObserver = (calls: number, ms: number, hasFailed: boolean) => void;

/** The connections of a pool at present. */
export interface PoolState {
  readonly idle: number;
  readonly used: number;
  /** Callers that wait for one. */
  readonly waiting: number;
}

/** A short code such as `SQLITE_FULL`, or an error that has none. */
export type FailureCause = string | Error;

/** A part of the store that can fail while the others work. A failure is reported once, until it is over. */
export class Part {
  readonly #report: ((cause: FailureCause | undefined) => void) | undefined;
  #cause: FailureCause | undefined;

  constructor(name: string, observer: StoreObserver | undefined) {
    this.#report = observer?.part(name);
  }

  /** @param cause undefined when it works */
  set failure(cause: FailureCause | undefined) {
    if (`${cause}` === `${this.#cause}`) return;
    this.#cause = cause;
    this.#report?.(cause);
  }
}
