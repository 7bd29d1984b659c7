import { readdirSync, readFileSync } from 'node:fs';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { counter, type Family, gauge, type Labels } from './family.ts';
import { Histogram, histogram } from './histogram.ts';

/** The interval of the timer that measures the delay of the event loop. */
const INTERVAL_MS = 100;

/** Upper bounds in seconds. */
const DELAY_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const COLLECTION_BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

const COLLECTIONS = [
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
] as const;

/** The types of Node lack `detail`. */
type Collection = PerformanceEntry & { readonly detail: { readonly kind: number } };

/** The process and its event loop. The names are those of Prometheus' client libraries. */
export class RuntimeMetrics {
  readonly #delays = new Histogram(DELAY_BOUNDS);
  readonly #collections = new Map<number, [Labels, Histogram]>(
    COLLECTIONS.map(([number, kind]) => [number, [{ kind }, new Histogram(COLLECTION_BOUNDS)]]),
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
        this.#collections.get(detail.kind)?.[1].observe(duration / 1_000);
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
    const startedAt = performance.timeOrigin / 1_000;
    return [
      counter('process_cpu_seconds_total', 'CPU time of all threads.', (user + system) / 1e6),
      gauge('process_resident_memory_bytes', 'Resident memory.', rss),
      gauge('process_open_fds', 'Open file descriptors.', fromProc(countOpenFiles)),
      gauge('process_max_fds', 'Maximum number of open file descriptors.', fromProc(readOpenFilesMax)),
      gauge('process_start_time_seconds', 'Start time of the process, as Unix time.', startedAt),
      gauge('nodejs_heap_size_total_bytes', 'Size of the JavaScript heap.', heapTotal),
      gauge('nodejs_heap_size_used_bytes', 'Used part of the JavaScript heap.', heapUsed),
      gauge('nodejs_external_memory_bytes', 'Memory outside the JavaScript heap, such as buffers.', external),
      counter(
        'bookkeeping_event_loop_active_seconds_total',
        'Time in which the event loop was busy.',
        active / 1_000,
      ),
      histogram('bookkeeping_event_loop_delay_seconds', 'Delay of the timers of the event loop.', [
        [{}, this.#delays],
      ]),
      histogram('nodejs_gc_duration_seconds', 'Durations of garbage collections, by kind.', [
        ...this.#collections.values(),
      ]),
    ];
  }
}

/** Without series on systems without /proc. */
function fromProc(read: () => number): number | [] {
  try {
    const value = read();
    return Number.isNaN(value) ? [] : value;
  } catch {
    return [];
  }
}

/** Without the descriptor of this directory. */
function countOpenFiles(): number {
  return readdirSync('/proc/self/fd').length - 1;
}

function readOpenFilesMax(): number {
  return Number(/^Max open files +([0-9]+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
}
