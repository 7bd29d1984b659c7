import { Counter, Gauge, type Registry } from '@prometheus-io/client';
import type { OperationObserver, PoolState } from '../store/observer.ts';
import { SeriesHistogram } from './series-histogram.ts';

/** In seconds: from a read of one book in SQLite to the timeout of PostgreSQL. */
const DURATION_BOUNDS = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
const SIZE_BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];

const OPERATION_LABELS = ['engine', 'operation'] as const;

/** Measures the batches of the store, and what waits for them. */
export class StoreMetrics {
  readonly #engine: string;
  readonly #durations: SeriesHistogram;
  readonly #sizes: SeriesHistogram;
  readonly #failures: Counter<(typeof OPERATION_LABELS)[number]>;
  readonly #parts: Gauge<'engine' | 'part'>;
  readonly #waiting: (readonly [operation: string, count: () => number])[] = [];
  readonly #pools: (readonly [name: string, connections: () => PoolState])[] = [];

  constructor(registry: Registry, engine: string) {
    this.#engine = engine;
    const waiting = this.#waiting;
    const pools = this.#pools;
    const registers = [registry];
    this.#durations = new SeriesHistogram({
      name: 'bookkeeping_store_batch_duration_seconds',
      help: 'Duration of batches of concurrent calls to the store.',
      labelNames: OPERATION_LABELS,
      buckets: DURATION_BOUNDS,
      registers,
    });
    this.#sizes = new SeriesHistogram({
      name: 'bookkeeping_store_batch_calls',
      help: 'Number of calls in a batch.',
      labelNames: OPERATION_LABELS,
      buckets: SIZE_BOUNDS,
      registers,
    });
    this.#failures = new Counter({
      name: 'bookkeeping_store_batch_failures_total',
      help: 'Batches that failed.',
      labelNames: OPERATION_LABELS,
      registers,
    });
    this.#parts = new Gauge({
      name: 'bookkeeping_store_failed_parts',
      help: '1 for a part of the store that has failed, such as the search index; otherwise 0.',
      labelNames: ['engine', 'part'],
      registers,
    });
    new Gauge({
      name: 'bookkeeping_store_waiting_calls',
      help: 'Calls that wait for a batch.',
      labelNames: OPERATION_LABELS,
      registers,
      collect() {
        this.reset();
        for (const [operation, count] of waiting) this.inc({ engine, operation }, count());
      },
    });
    new Gauge({
      name: 'bookkeeping_store_pool_connections',
      help: 'Connections to PostgreSQL, by pool and state.',
      labelNames: ['pool', 'state'],
      registers,
      collect() {
        for (const [pool, connections] of pools) {
          this.set({ pool, state: 'idle' }, connections().idle);
          this.set({ pool, state: 'used' }, connections().used);
        }
      },
    });
    new Gauge({
      name: 'bookkeeping_store_pool_waiting',
      help: 'Callers that wait for a connection to PostgreSQL, by pool.',
      labelNames: ['pool'],
      registers,
      collect() {
        for (const [pool, connections] of pools) this.set({ pool }, connections().waiting);
      },
    });
  }

  operation(name: string, waiting: () => number): OperationObserver {
    const labels = { engine: this.#engine, operation: name };
    this.#waiting.push([name, waiting]);
    const observeSeconds = this.#durations.series(labels);
    const observeCalls = this.#sizes.series(labels);
    this.#failures.inc(labels, 0);
    return (calls, ms, hasFailed) => {
      observeSeconds(ms / 1_000);
      observeCalls(calls);
      if (hasFailed) this.#failures.inc(labels);
    };
  }

  part(name: string): (cause: unknown) => void {
    const labels = { engine: this.#engine, part: name };
    this.#parts.set(labels, 0);
    return (cause) => this.#parts.set(labels, Number(cause !== undefined));
  }

  pool(name: string, connections: () => PoolState): void {
    this.#pools.push([name, connections]);
  }
}
