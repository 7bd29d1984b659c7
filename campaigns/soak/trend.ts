import { median } from '../../bench/statistics.ts';

/** The trend of a series. */
interface Trend {
  /** The change from one value to the next: the median over all pairs (Theil–Sen estimator). */
  readonly slope: number;
  /** Whether it differs from 0 with 95 % confidence (Mann–Kendall test, for any distribution). */
  readonly isCertain: boolean;
}

/** The trend of at least two values. */
export function trendOf(values: readonly number[]): Trend {
  const slopes = values.flatMap((value, index) =>
    values.slice(index + 1).map((later, distance) => (later - value) / (distance + 1)),
  );
  const { length } = values;
  const rises = Math.abs(slopes.reduce((sum, slope) => sum + Math.sign(slope), 0));
  const deviation = Math.sqrt((length * (length - 1) * (2 * length + 5)) / 18);
  return { slope: median(slopes) ?? Number.NaN, isCertain: (rises - 1) / deviation > 1.96 };
}
