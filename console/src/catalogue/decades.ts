/** A bar of the chart: a range of years, and its number of books. */
export interface Bar {
  readonly from: number;
  readonly to: number;
  /** A decade, or all years before or after the other bars. */
  readonly kind: 'decade' | 'older' | 'newer';
  readonly count: number;
}

const DECADE_YEARS = 10;

/**
 * The bars for a range of years, with counts of 0. The first bar includes all years that do not fit, and the last one all
 * years after the current decade, so that a mistyped year does not shrink the other bars.
 */
export function barsBetween(firstYear: number, lastYear: number, thisYear: number, barsMax: number): Bar[] {
  const last = Math.max(Math.min(decadeOf(lastYear), decadeOf(thisYear)), decadeOf(firstYear));
  const first = Math.max(decadeOf(firstYear), last - (barsMax - 1) * DECADE_YEARS);
  const bars: Bar[] = [];
  for (let from = first; from <= last; from += DECADE_YEARS) {
    bars.push({ from, to: from + DECADE_YEARS - 1, kind: 'decade', count: 0 });
  }
  const [oldest, newest] = [bars[0], bars.at(-1)];
  if (newest && lastYear > newest.to) bars.splice(-1, 1, { ...newest, to: lastYear, kind: 'newer' });
  if (oldest && firstYear < oldest.from) bars.splice(0, 1, { ...oldest, from: firstYear, kind: 'older' });
  return bars;
}

export function countInto(bars: readonly Bar[], years: readonly number[]): Bar[] {
  return bars.map((bar) => ({
    ...bar,
    count: years.filter((year) => year >= bar.from && year <= bar.to).length,
  }));
}

/** The count of a bar of full height: that of the largest decade. Other bars may exceed it, and are cut off. */
export function scaleOf(bars: readonly Bar[]): number {
  const decades = bars.filter((bar) => bar.kind === 'decade');
  return Math.max(1, ...(decades.length > 0 ? decades : bars).map(({ count }) => count));
}

function decadeOf(year: number): number {
  return Math.floor(year / DECADE_YEARS) * DECADE_YEARS;
}
