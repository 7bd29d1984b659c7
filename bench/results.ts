import type { LongListResult } from './long-list.ts';
import type { Measurement, Series } from './measure.ts';
import type { ServiceName } from './services/service.ts';
import { median } from './statistics.ts';

export type Metric = Exclude<keyof Measurement, keyof Series | 'round'>;

/** The memory of a service's process, in bytes. */
interface Memory {
  /** 2 s after a start with a filled compile cache, which ends with one request. */
  readonly idle: number;
  /** 2 s after the last measurement. */
  readonly after: number;
  /** The maximum of all measurements. */
  readonly peak: number;
}

/** The results of a run, without what was not measured. */
export class Results {
  readonly measurements: Measurement[] = [];
  readonly memory = new Map<ServiceName, Memory>();
  /** Milliseconds from each start of the process to the first response. */
  readonly startsMs = new Map<ServiceName, readonly number[]>();
  readonly longLists = new Map<ServiceName, LongListResult>();

  /** The median of the rounds, or undefined without a successful measurement. */
  median(series: Series, metric: Metric): number | undefined {
    return median(this.#successes(series).map((measurement) => measurement[metric]));
  }

  /** The median of the ratios of two series in each round. */
  ratio(series: Series, base: Series, metric: Metric): number | undefined {
    const bases = this.#successes(base);
    return median(
      this.#successes(series).flatMap((measurement) => {
        const other = bases.find(({ round }) => round === measurement.round);
        return other ? [measurement[metric] / other[metric]] : [];
      }),
    );
  }

  peakMemoryBytes(service: ServiceName): number {
    const own = this.measurements.filter((one) => one.service === service && one.kept === undefined);
    return Math.max(...own.map(({ peakMemoryBytes }) => peakMemoryBytes));
  }

  get failed(): readonly Measurement[] {
    return this.measurements.filter(({ failures }) => failures > 0);
  }

  #successes({ service, workload, connections, kept }: Series): Measurement[] {
    return this.measurements.filter(
      (measurement) =>
        measurement.service === service &&
        measurement.workload === workload &&
        measurement.connections === connections &&
        measurement.kept === kept &&
        measurement.failures === 0,
    );
  }
}
