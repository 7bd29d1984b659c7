/** How long a feature is done without; a refusal may have passed by then, as may a change of the table or of a right. */
const PAUSE_MS = 60_000;

/** Something that a server may refuse, and that can be done without: after a refusal it is, for a while. */
export class OptionalFeature {
  #pausedUntil = 0;

  /** Whether to use it. */
  get isEnabled(): boolean {
    return performance.now() >= this.#pausedUntil;
  }

  /** Notes that the server has refused it. */
  disable(): void {
    this.#pausedUntil = performance.now() + PAUSE_MS;
  }
}
