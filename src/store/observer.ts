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

/** Observes calls that each have a trip of their own. */
export class Trips {
  readonly #observer: TripObserver | undefined;
  #underWay = 0;

  /** @param atOnceMax how many of them are under way at once; the others wait */
  constructor(name: string, atOnceMax: number, observer: StoreObserver | undefined) {
    this.#observer = observer?.operation(name, () => Math.max(0, this.#underWay - atOnceMax));
  }

  /** Makes one. */
  async make<Result>(run: () => Promise<Result>): Promise<Result> {
    const startedMs = performance.now();
    let hasFailed = true;
    this.#underWay++;
    try {
      const result = await run();
      hasFailed = false;
      return result;
    } finally {
      this.#underWay--;
      this.#observer?.(1, performance.now() - startedMs, hasFailed);
    }
  }
}
