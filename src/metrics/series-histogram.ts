import { Histogram } from '@prometheus-io/client';

/** The labels of a series, by name. */
type Labels = Readonly<Record<string, string>>;

interface Series {
  readonly labels: Labels;
  /** The number of values in each bucket; the last one has those above all bounds. */
  readonly counts: number[];
  sum: number;
}

/**
 * A histogram that the library renders, with buckets of its own: the library makes a key of the labels for each value, which takes
 * 1 µs, 6 % of the processor time of `GET /book/{id}`.
 */
export class SeriesHistogram extends Histogram<string> {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #series: Series[] = [];

  /** @param configuration as that of the library, with upper bounds in ascending order */
  constructor(configuration: ConstructorParameters<typeof Histogram<string>>[0] & { buckets: number[] }) {
    super(configuration);
    this.#name = configuration.name;
    this.#help = configuration.help;
    this.#bounds = configuration.buckets;
  }

  /** Adds a series, from 0. @returns a function that observes a value */
  series(labels: Labels): (value: number) => void {
    const bounds = this.#bounds;
    const series: Series = { labels, counts: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 };
    this.#series.push(series);
    return (value) => {
      let bucket = 0;
      while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++;
      series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
      series.sum += value;
    };
  }

  /** What the registry of the library calls to render a metric. */
  getForPromString(): object {
    const values = this.#series.flatMap(({ labels, counts, sum }) => {
      let count = 0;
      const buckets = counts.map((added, index) => {
        count += added;
        return this.#value('bucket', { ...labels, le: this.#bounds[index] ?? '+Inf' }, count);
      });
      return [...buckets, this.#value('sum', labels, sum), this.#value('count', labels, count)];
    });
    return { name: this.#name, help: this.#help, type: 'histogram', values };
  }

  #value(suffix: string, labels: Readonly<Record<string, string | number>>, value: number): object {
    return { metricName: `${this.#name}_${suffix}`, labels, value };
  }
}
