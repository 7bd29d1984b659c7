import type { Meter } from './measure.ts';
import { TARGET_CONNECTIONS } from './options.ts';
import type { Latency, Results } from './results.ts';
import type { Service } from './services/service.ts';

const WORKLOADS = ['get', 'post'] as const;
const SERVICES: readonly string[] = ['floor', 'sqlite', 'postgres'];
/** Of the rate that closed connections reach. */
export const SHARE = 0.5;
/** Requests that are due while all connections have one wait, and that time counts. */
const CONNECTIONS = 64;
const SECONDS = 4;

/** Measures latencies under an open load, in which requests are sent when they are due; it takes 5 s for each. */
export async function measureLatencies(
  services: readonly Service[],
  meter: Meter,
  results: Results,
): Promise<Latency[]> {
  const latencies: Latency[] = [];
  for (const workload of WORKLOADS) {
    for (const service of services.filter(({ name }) => SERVICES.includes(name))) {
      const series = { service: service.name, workload, connections: TARGET_CONNECTIONS };
      const peak = results.median(series, 'requestsPerSecond');
      if (peak === undefined) continue;
      const task = { service, workload, connections: CONNECTIONS, seconds: SECONDS };
      const result = await meter.measureAtRate(task, peak * SHARE);
      if (result.failures > 0) throw new Error(`${result.failures} requests failed under an open load`);
      latencies.push({ ...result, service: service.name, workload });
    }
  }
  return latencies;
}
