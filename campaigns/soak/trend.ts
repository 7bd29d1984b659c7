import { median } from '../../bench/statistics.ts';

/** Where a row of values is heading. */
export interface Trend {
  /** The change from one value to the next, as it is in the median of all pairs (T. Theil and P. Sen). */
  readonly slope: number;
  /** Whether it is another one than 0, with 95 % confidence (H. Mann and M. Kendall; no matter how values scatter). */
  readonly isCertain: boolean;
}

/** Where a row of at least two values is heading. */
export function trendOf(values: readonly number[]): Trend {
  const slopes = values.flatMap((value, index) =>
    values.slice(index + 1).map((later, distance) => (later - value) / (distance + 1)),
  );
  const { length } = values;
  const rises = Math.abs(slopes.reduce((sum, slope) => sum + Math.sign(slope), 0));
  const deviation = Math.sqrt((length * (length - 1) * (2 * length + 5)) / 18);
  return { slope: median(slopes) ?? Number.NaN, isCertain: (rises - 1) / deviation > 1.96 };
}
