export interface Pace {
  readonly perSecond: number;
  readonly secondsLeft: number;
}

const WINDOW_MS = 5_000;

/** Measures the recent rate of an import. */
export class PaceMeter {
  readonly #marks: { readonly at: number; readonly done: number }[] = [];

  /** @param at in milliseconds @returns undefined while the rate is unknown, such as during an outage */
  note(done: number, total: number, at: number): Pace | undefined {
    this.#marks.push({ at, done });
    while ((this.#marks[0]?.at ?? at) < at - WINDOW_MS && this.#marks.length > 2) this.#marks.shift();
    const [first] = this.#marks;
    if (!first || at === first.at || done === first.done) return undefined;
    const perSecond = ((done - first.done) / (at - first.at)) * 1_000;
    return { perSecond, secondsLeft: (total - done) / perSecond };
  }
}
