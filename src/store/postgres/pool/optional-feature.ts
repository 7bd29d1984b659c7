/** The time until a rejected feature is tried again: the table or the privileges may have changed by then. */
const PAUSE_MS = 60_000;

/** A feature that a server may reject, and that is not used for a time after that. */
export class OptionalFeature {
  #pausedUntil = 0;

  get isEnabled(): boolean {
    return performance.now() >= this.#pausedUntil;
  }

  disable(): void {
    this.#pausedUntil = performance.now() + PAUSE_MS;
  }
}
