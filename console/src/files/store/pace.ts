/** How quickly work has got on, and how long the rest may take. */
export interface Pace {
  readonly perSecond: number;
  readonly secondsLeft: number;
}

/** The pace of the last so many seconds counts. */
const WINDOW_MS = 5_000;

/** Measures pace by what is done when. Where nothing has been done for a while, as while a service is away, there is none. */
export class PaceMeter {
  readonly #marks: { readonly at: number; readonly done: number }[] = [];

  /**
   * Notes how much is done.
   *
   * @param at when, in milliseconds from whenever
   * @returns undefined as long as nothing can be said
   */
  note(done: number, total: number, at: number): Pace | undefined {
    this.#marks.push({ at, done });
    while ((this.#marks[0]?.at ?? at) < at - WINDOW_MS && this.#marks.length > 2) this.#marks.shift();
    const [first] = this.#marks;
    if (!first || at === first.at || done === first.done) return undefined;
    const perSecond = ((done - first.done) / (at - first.at)) * 1_000;
    return { perSecond, secondsLeft: (total - done) / perSecond };
  }
}
