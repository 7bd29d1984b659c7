import type { LongListResult } from './extras/long-list.ts';
import type { SlowDiskResult } from './extras/slow-disk.ts';
import type { ServiceName } from './services/service.ts';
import { median } from './statistics.ts';
import type { WorkloadName } from './workloads.ts';

/** The measurements of one thing, one in each round. */
export interface Series {
  readonly service: ServiceName;
  readonly workload: WorkloadName;
  readonly connections: number;
}

/** One of them. */
export interface Measurement extends Series {
  readonly round: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of the service's process for a request, in microseconds. */
  readonly cpuMicroseconds: number;
  /** The most memory that the service's process had in use meanwhile. */
  readonly peakMemoryBytes: number;
  /** The part of its one thread that the generator was busy. */
  readonly generatorShare: number;
  /** Answers with another status than 2xx and lost connections. With any of them the numbers count for nothing. */
  readonly failures: number;
}

/** A number that a measurement has. */
export type Metric = Exclude<keyof Measurement, keyof Series | 'round'>;

/** The memory of a service's process, in bytes. */
export interface Memory {
  /** Some time after the start, with one request answered. */
  readonly idle: number;
  /** Some time after the last measurement. */
  readonly after: number;
  /** The most in any measurement. */
  readonly peak: number;
}

/** What a run found out. What was not measured is absent. */
export class Results {
  readonly measurements: Measurement[] = [];
  /** Point selects a second by pgbench, round by round; undefined when it is not installed. */
  readonly pgbench: (number | undefined)[] = [];
  readonly memory = new Map<ServiceName, Memory>();
  /** Milliseconds from the start of the process to the first answer, start by start. */
  readonly startsMs = new Map<ServiceName, readonly number[]>();
  readonly longLists = new Map<ServiceName, LongListResult>();
  slowDisk: SlowDiskResult | undefined;

  /** The median over rounds, or undefined where nothing was measured successfully. */
  median(series: Series, metric: Metric): number | undefined {
    return median(this.#successes(series).map((measurement) => measurement[metric]));
  }

  /** The median over rounds of how many times as much one series has as another in the same round. */
  ratio(series: Series, base: Series, metric: Metric): number | undefined {
    const bases = this.#successes(base);
    return median(
      this.#successes(series).flatMap((measurement) => {
        const other = bases.find(({ round }) => round === measurement.round);
        return other ? [measurement[metric] / other[metric]] : [];
      }),
    );
  }

  /** The same for requests a second, as a multiple of pgbench's selects. */
  ratioToPgbench(series: Series): number | undefined {
    return median(
      this.#successes(series).flatMap(({ round, requestsPerSecond }) => {
        const selects = this.pgbench[round];
        return selects === undefined ? [] : [requestsPerSecond / selects];
      }),
    );
  }

  /** The most memory that a service's process had in use in any measurement. */
  peakMemoryBytes(service: ServiceName): number {
    const own = this.measurements.filter((measurement) => measurement.service === service);
    return Math.max(...own.map(({ peakMemoryBytes }) => peakMemoryBytes));
  }

  /** The measurements that failed. */
  get failed(): readonly Measurement[] {
    return this.measurements.filter(({ failures }) => failures > 0);
  }

  #successes({ service, workload, connections }: Series): Measurement[] {
    return this.measurements.filter(
      (measurement) =>
        measurement.service === service &&
        measurement.workload === workload &&
        measurement.connections === connections &&
        measurement.failures === 0,
    );
  }
}
