import { type Family, type Labels, sampleName } from './family.ts';

export class Histogram {
  readonly #bounds: readonly number[];
  /** Not cumulative; the last bucket has no upper bound. */
  readonly #counts: number[];
  #sum = 0;

  /** @param bounds the upper bounds, ascending */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    let bucket = 0;
    while (value > (this.#bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  *samples(name: string, labels: Labels): Generator<[string, number]> {
    let count = 0;
    for (const [bucket, of] of this.#counts.entries()) {
      count += of;
      const le = bucket < this.#bounds.length ? `${this.#bounds[bucket]}` : '+Inf';
      yield [sampleName(`${name}_bucket`, { ...labels, le }), count];
    }
    yield [sampleName(`${name}_sum`, labels), this.#sum];
    yield [sampleName(`${name}_count`, labels), count];
  }
}

export function histogram(name: string, help: string, series: readonly [Labels, Histogram][]): Family {
  const samples = series.flatMap(([labels, of]) => [...of.samples(name, labels)]);
  return { name, help, type: 'histogram', samples: Object.fromEntries(samples) };
}
