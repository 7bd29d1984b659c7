/** A bar of the chart: some years, and how many books there are of them. */
export interface Bar {
  /** The first and the last year. */
  readonly from: number;
  readonly to: number;
  /** Undefined as long as it is being counted. */
  readonly count: number | undefined;
}

/** More bars are too thin to be hit with a finger on a phone; older books share the first one. */
const BARS_MAX = 24;

const DECADE_YEARS = 10;

/** The decades between two years, at most {@link BARS_MAX}; the first one takes what is older. */
export function barsBetween(firstYear: number, lastYear: number): Bar[] {
  const last = decadeOf(lastYear);
  const first = Math.max(decadeOf(firstYear), last - (BARS_MAX - 1) * DECADE_YEARS);
  const bars: Bar[] = [];
  for (let from = first; from <= last; from += DECADE_YEARS) {
    bars.push({
      from: from === first ? Math.min(firstYear, first) : from,
      to: from + DECADE_YEARS - 1,
      count: undefined,
    });
  }
  return bars;
}

/** The bars with the books of a list counted into them. */
export function countInto(bars: readonly Bar[], years: readonly number[]): Bar[] {
  return bars.map((bar) => ({
    ...bar,
    count: years.filter((year) => year >= bar.from && year <= bar.to).length,
  }));
}

/** Whether a bar is a decade, rather than all that is older. */
export function isDecade({ from, to }: Bar): boolean {
  return to - from < DECADE_YEARS;
}

function decadeOf(year: number): number {
  return Math.floor(year / DECADE_YEARS) * DECADE_YEARS;
}
