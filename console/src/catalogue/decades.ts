/** A bar of the chart: some years, and how many books there are of them. */
export interface Bar {
  /** The first and the last year. */
  readonly from: number;
  readonly to: number;
  /** Whether it stands for ten years, or for all that is older or newer than the others. */
  readonly is: 'decade' | 'older' | 'newer';
  readonly count: number;
}

const DECADE_YEARS = 10;

/**
 * The bars for the years of some books, counted into none yet: decades, of which the first one takes what is older than
 * the chart is wide, and the last one what is newer than this year. A slip of a key must not squeeze all the others.
 *
 * @param most how many bars there is room for
 */
export function barsBetween(firstYear: number, lastYear: number, thisYear: number, most: number): Bar[] {
  const last = Math.max(Math.min(decadeOf(lastYear), decadeOf(thisYear)), decadeOf(firstYear));
  const first = Math.max(decadeOf(firstYear), last - (most - 1) * DECADE_YEARS);
  const bars: Bar[] = [];
  for (let from = first; from <= last; from += DECADE_YEARS) {
    bars.push({ from, to: from + DECADE_YEARS - 1, is: 'decade', count: 0 });
  }
  const [oldest, newest] = [bars[0], bars.at(-1)];
  if (newest && lastYear > newest.to) bars.splice(-1, 1, { ...newest, to: lastYear, is: 'newer' });
  if (oldest && firstYear < oldest.from) bars.splice(0, 1, { ...oldest, from: firstYear, is: 'older' });
  return bars;
}

/** The bars with books of these years counted into them. */
export function countInto(bars: readonly Bar[], years: readonly number[]): Bar[] {
  return bars.map((bar) => ({
    ...bar,
    count: years.filter((year) => year >= bar.from && year <= bar.to).length,
  }));
}

/** What the highest column stands for: the most books of a decade. Other bars may have more, and are cut off. */
export function scaleOf(bars: readonly Bar[]): number {
  const decades = bars.filter((bar) => bar.is === 'decade');
  return Math.max(1, ...(decades.length > 0 ? decades : bars).map(({ count }) => count));
}

function decadeOf(year: number): number {
  return Math.floor(year / DECADE_YEARS) * DECADE_YEARS;
}
