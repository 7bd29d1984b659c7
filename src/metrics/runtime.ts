import { readdirSync, readFileSync } from 'node:fs';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { counter, type Family, gauge, type Labels } from './family.ts';
import { Histogram, histogram } from './histogram.ts';

/** How often the event loop is asked how late it is. */
const LOOK_MS = 100;

const DELAY_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const COLLECTION_BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

const COLLECTIONS: ReadonlyMap<unknown, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);

/** What Node tells of a collection; its types know no `detail`. */
interface Collection extends PerformanceEntry {
  readonly detail: { readonly kind: number };
}

/** What the process and its event loop do, until it is closed. Names are those that all clients of Prometheus use. */
export class RuntimeMetrics {
  readonly #delays = new Histogram(DELAY_BOUNDS);
  readonly #collections = new Map(
    [...COLLECTIONS.values()].map((kind) => [kind, new Histogram(COLLECTION_BOUNDS)]),
  );
  readonly #collector: PerformanceObserver;
  readonly #timer: NodeJS.Timeout;

  constructor() {
    let dueAt = performance.now() + LOOK_MS;
    this.#timer = setInterval(() => {
      const nowMs = performance.now();
      this.#delays.observe(Math.max(0, nowMs - dueAt) / 1_000);
      dueAt = nowMs + LOOK_MS;
    }, LOOK_MS).unref();
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
      counter('process_cpu_seconds_total', 'Processor time, of all threads.', one((user + system) / 1e6)),
      gauge('process_resident_memory_bytes', 'Memory that the process holds.', one(rss)),
      gauge('process_open_fds', 'Open file descriptors.', openFiles()),
      gauge('process_max_fds', 'How many file descriptors may be open.', openFilesMax()),
      {
        ...gauge('process_start_time_seconds', 'When the process started, as Unix time.', one(STARTED_AT)),
        together: 'max',
      },
      gauge('nodejs_heap_size_total_bytes', 'Memory of the JavaScript heap.', one(heapTotal)),
      gauge('nodejs_heap_size_used_bytes', 'What is used of it.', one(heapUsed)),
      gauge('nodejs_external_memory_bytes', 'Memory of buffers, outside of the heap.', one(external)),
      counter(
        'bookkeeping_event_loop_active_seconds_total',
        'Time in which the event loop had work.',
        one(active / 1_000),
      ),
      histogram('bookkeeping_event_loop_delay_seconds', 'How late timers of the event loop are.', [
        [{}, this.#delays],
      ]),
      histogram(
        'nodejs_gc_duration_seconds',
        'Garbage collections, by kind.',
        [...this.#collections].map(([kind, durations]) => [{ kind }, durations]),
      ),
    ];
  }
}

const STARTED_AT = performance.timeOrigin / 1_000;

function one(value: number): [[Labels, number]] {
  return [[{}, value]];
}

/** Only Linux tells; the one that is open for looking does not count. */
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
