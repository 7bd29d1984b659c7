import { counter, type Family, gauge, type Labels } from './family.ts';
import { Histogram, histogram } from './histogram.ts';

/** In seconds: from a read of one book in SQLite to the timeout of PostgreSQL. */
const DURATION_BOUNDS = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
const SIZE_BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];

interface Operation {
  readonly labels: Labels;
  readonly durations: Histogram;
  readonly sizes: Histogram;
  failures: number;
  readonly waiting: () => number;
}

interface Pool {
  readonly idle: number;
  readonly used: number;
  readonly waiting: number;
}

export class StoreMetrics {
  readonly #engine: string;
  readonly #operations: Operation[] = [];
  readonly #parts: { readonly labels: Labels; hasFailed: boolean }[] = [];
  readonly #pools: { readonly name: string; readonly connections: () => Pool }[] = [];

  constructor(engine: string) {
    this.#engine = engine;
  }

  operation(name: string, waiting: () => number): (calls: number, ms: number, hasFailed: boolean) => void {
    const operation = {
      labels: { engine: this.#engine, operation: name },
      durations: new Histogram(DURATION_BOUNDS),
      sizes: new Histogram(SIZE_BOUNDS),
      failures: 0,
      waiting,
    };
    this.#operations.push(operation);
    return (calls, ms, hasFailed) => {
      operation.durations.observe(ms / 1_000);
      operation.sizes.observe(calls);
      if (hasFailed) operation.failures++;
    };
  }

  part(name: string): (cause: unknown) => void {
    const part = { labels: { engine: this.#engine, part: name }, hasFailed: false };
    this.#parts.push(part);
    return (cause) => {
      part.hasFailed = cause !== undefined;
    };
  }

  pool(name: string, connections: () => Pool): void {
    this.#pools.push({ name, connections });
  }

  families(): Family[] {
    const pools = this.#pools.map(({ name, connections }) => ({ pool: name, ...connections() }));
    return [
      histogram(
        'bookkeeping_store_trip_duration_seconds',
        'Duration of batches of concurrent calls to the store.',
        this.#operations.map(({ labels, durations }) => [labels, durations]),
      ),
      histogram(
        'bookkeeping_store_trip_calls',
        'Number of calls in a batch.',
        this.#operations.map(({ labels, sizes }) => [labels, sizes]),
      ),
      counter(
        'bookkeeping_store_trip_failures_total',
        'Batches that failed.',
        this.#operations.map(({ labels, failures }) => [labels, failures]),
      ),
      gauge(
        'bookkeeping_store_waiting_calls',
        'Calls that wait for a batch.',
        this.#operations.map(({ labels, waiting }) => [labels, waiting()]),
      ),
      gauge(
        'bookkeeping_store_failed_parts',
        '1 for a part of the store that has failed, so that the store uses a fallback; otherwise 0.',
        this.#parts.map(({ labels, hasFailed }) => [labels, Number(hasFailed)]),
      ),
      gauge(
        'bookkeeping_store_pool_connections',
        'Connections to PostgreSQL, by pool and state.',
        pools.flatMap(({ pool, idle, used }) => [
          [{ pool, state: 'idle' }, idle],
          [{ pool, state: 'used' }, used],
        ]),
      ),
      gauge(
        'bookkeeping_store_pool_waiting',
        'Callers that wait for a connection to PostgreSQL, by pool.',
        pools.map(({ pool, waiting }) => [{ pool }, waiting]),
      ),
    ];
  }
}
