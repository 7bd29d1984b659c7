/** A bar of the chart: a range of years, and its number of books. */
export interface Bar {
  readonly from: number;
  readonly to: number;
  /** A decade, all years before or after the other bars, or the year 0 of books whose year is not known. */
  readonly kind: 'decade' | 'older' | 'newer' | 'unknown';
  readonly count: number;
}

/** The first and the last year of some books. */
export interface Years {
  readonly first: number;
  readonly last: number;
}

const DECADE_YEARS = 10;

/**
 * The bars for books before and since the year 0, with counts of 0; the last one is for books of unknown year. Books BC have one
 * bar if there are others. The first decade includes all years that do not fit, and the last one all years after the current
 * decade, so that a mistyped year does not shrink the other bars.
 */
export function barsOf(
  bc: Years | undefined,
  ad: Years | undefined,
  thisYear: number,
  barsMax: number,
): Bar[] {
  const bars: Bar[] = [];
  if (bc && ad) bars.push({ from: bc.first, to: -1, kind: 'older', count: 0 });
  const years = ad ?? bc;
  if (years) bars.push(...decadesOf(years, thisYear, barsMax - bars.length));
  return [...bars, { from: 0, to: 0, kind: 'unknown', count: 0 }];
}

function decadesOf({ first: firstYear, last: lastYear }: Years, thisYear: number, barsMax: number): Bar[] {
  const last = Math.max(Math.min(decadeOf(lastYear), decadeOf(thisYear)), decadeOf(firstYear));
  const first = Math.max(decadeOf(firstYear), last - (barsMax - 1) * DECADE_YEARS);
  const bars: Bar[] = [];
  for (let from = first; from <= last; from += DECADE_YEARS) {
    // The year 0 is that of books whose year is not known.
    bars.push({ from: from || 1, to: from + DECADE_YEARS - 1 || -1, kind: 'decade', count: 0 });
  }
  const [oldest, newest] = [bars[0], bars.at(-1)];
  if (newest && lastYear > newest.to) bars.splice(-1, 1, { ...newest, to: lastYear, kind: 'newer' });
  if (oldest && firstYear < oldest.from) bars.splice(0, 1, { ...oldest, from: firstYear, kind: 'older' });
  return bars;
}

/** The fewest books of a bar of full height, so that one book and 120 books look different. */
const FULL_BAR_BOOKS_MIN = 10;

/** The height of a bar, from 0 to 1: by the logarithm, so that 1, 30 and 3,000 books beside each other look different. */
export function heightOf(count: number, bars: readonly Bar[]): number {
  const most = Math.max(FULL_BAR_BOOKS_MIN, ...bars.map((bar) => bar.count));
  return Math.log1p(count) / Math.log1p(most);
}

/** The first year of a decade: 1890 of the 1890s, -759 of the 750s BC. */
function decadeOf(year: number): number {
  return year < 0
    ? 1 - Math.ceil((1 - year) / DECADE_YEARS) * DECADE_YEARS
    : Math.floor(year / DECADE_YEARS) * DECADE_YEARS;
}
