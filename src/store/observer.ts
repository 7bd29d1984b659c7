/** Who wants to know what a store does. Nothing depends on it. */
export interface StoreObserver {
  /**
   * Told once of every kind of call that has trips.
   *
   * @param waiting how many calls wait for a trip at present
   * @returns who is told of its trips
   */
  operation(name: string, waiting: () => number): TripObserver;
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
