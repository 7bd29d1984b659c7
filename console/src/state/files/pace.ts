export interface Pace {
  readonly perSecond: number;
  readonly secondsLeft: number;
}

const WINDOW_MS = 5_000;

/** Measures the recent rate of an import. */
export class PaceMeter {
  readonly #samples: { readonly at: number; readonly done: number }[] = [];

  /** @param at in milliseconds @returns undefined while there is no rate, such as during an outage */
  record(done: number, total: number, at: number): Pace | undefined {
    this.#samples.push({ at, done });
    while ((this.#samples[0]?.at ?? at) < at - WINDOW_MS && this.#samples.length > 2) this.#samples.shift();
    const [first] = this.#samples;
    if (!first || at === first.at || done === first.done) return undefined;
    const perSecond = ((done - first.done) / (at - first.at)) * 1_000;
    return { perSecond, secondsLeft: (total - done) / perSecond };
  }
}
