import { readdirSync, readFileSync } from 'node:fs';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { counter, type Family, gauge, type Labels } from './family.ts';
import { Histogram, histogram } from './histogram.ts';

/** The interval of the timer that measures the delay of the event loop. */
const INTERVAL_MS = 100;

const DELAY_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const COLLECTION_BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

const COLLECTIONS: ReadonlyMap<unknown, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);

/** A garbage collection; the types of Node lack `detail`. */
interface Collection extends PerformanceEntry {
  readonly detail: { readonly kind: number };
}

/** The process and its event loop. The names are those of the client libraries of Prometheus. */
export class RuntimeMetrics {
  readonly #delays = new Histogram(DELAY_BOUNDS);
  readonly #collections = new Map(
    [...COLLECTIONS.values()].map((kind) => [kind, new Histogram(COLLECTION_BOUNDS)]),
  );
  readonly #collector: PerformanceObserver;
  readonly #timer: NodeJS.Timeout;

  constructor() {
    let dueAt = performance.now() + INTERVAL_MS;
    this.#timer = setInterval(() => {
      const nowMs = performance.now();
      this.#delays.observe(Math.max(0, nowMs - dueAt) / 1_000);
      dueAt = nowMs + INTERVAL_MS;
    }, INTERVAL_MS).unref();
    this.#collector = new PerformanceObserver((list) => {
      for (const { detail, duration } of list.getEntries() as Collection[]) {
        this.#collections.get(COLLECTIONS.get(detail.kind) ?? '')?.observe(duration / 1_000);
      }
    });
    this.#collector.observe({ entryTypes: ['gc'] });
  }

  close(): void {
    clearInterval(this.#timer);
    this.#collector.disconnect();
  }

  families(): Family[] {
    const { user, system } = process.cpuUsage();
    const { heapTotal, heapUsed, external, rss } = process.memoryUsage();
    const { active } = performance.eventLoopUtilization();
    return [
      counter('process_cpu_seconds_total', 'CPU time of all threads.', one((user + system) / 1e6)),
      gauge('process_resident_memory_bytes', 'Resident memory.', one(rss)),
      gauge('process_open_fds', 'Open file descriptors.', openFiles()),
      gauge('process_max_fds', 'Maximum number of open file descriptors.', openFilesMax()),
      {
        ...gauge('process_start_time_seconds', 'Start time of the process, as Unix time.', one(STARTED_AT)),
        aggregation: 'max',
      },
      gauge('nodejs_heap_size_total_bytes', 'Size of the JavaScript heap.', one(heapTotal)),
      gauge('nodejs_heap_size_used_bytes', 'Used part of the JavaScript heap.', one(heapUsed)),
      gauge(
        'nodejs_external_memory_bytes',
        'Memory outside the JavaScript heap, such as buffers.',
        one(external),
      ),
      counter(
        'bookkeeping_event_loop_active_seconds_total',
        'Time in which the event loop was busy.',
        one(active / 1_000),
      ),
      histogram('bookkeeping_event_loop_delay_seconds', 'Delay of the timers of the event loop.', [
        [{}, this.#delays],
      ]),
      histogram(
        'nodejs_gc_duration_seconds',
        'Durations of garbage collections, by kind.',
        [...this.#collections].map(([kind, durations]) => [{ kind }, durations]),
      ),
    ];
  }
}

const STARTED_AT = performance.timeOrigin / 1_000;

function one(value: number): [[Labels, number]] {
  return [[{}, value]];
}

/** Linux only; the descriptor of this directory does not count. */
function openFiles(): [Labels, number][] {
  try {
    return one(readdirSync('/proc/self/fd').length - 1);
  } catch {
    return [];
  }
}

function openFilesMax(): [Labels, number][] {
  try {
    const [, max] = /^Max open files +([0-9]+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return max === undefined ? [] : one(Number(max));
  } catch {
    return [];
  }
}
