import { Counter, collectDefaultMetrics, Registry } from '@prometheus-io/client';

/** The library's metrics of the process that the dashboard shows; the others are many, or named against the conventions. */
const SHOWN = new Set([
  'process_cpu_seconds_total',
  // It reads the other two.
  'process_cpu_user_seconds_total',
  'process_cpu_system_seconds_total',
  'process_resident_memory_bytes',
  'process_open_fds',
  'process_max_fds',
  'process_start_time_seconds',
  'nodejs_heap_size_total_bytes',
  'nodejs_heap_size_used_bytes',
  'nodejs_external_memory_bytes',
  'nodejs_eventloop_lag_seconds',
  'nodejs_eventloop_lag_p50_seconds',
  'nodejs_eventloop_lag_p99_seconds',
  'nodejs_gc_duration_seconds',
]);

let registry: Registry | undefined;

/** The metrics of the process and its event loop: one registry, as the library's timers and observers cannot be stopped. */
export function processMetrics(): Registry {
  if (registry) return registry;
  registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const { name } of registry.getMetricsAsArray())
    if (!SHOWN.has(name)) registry.removeSingleMetric(name);
  new Counter({
    name: 'bookkeeping_event_loop_active_seconds_total',
    help: 'Time in which the event loop was busy.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(performance.eventLoopUtilization().active / 1_000);
    },
  });
  return registry;
}
