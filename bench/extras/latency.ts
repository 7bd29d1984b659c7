import { decimal, percent, table } from '../markdown.ts';
import type { Meter } from '../measure.ts';
import { type Service, services as titles } from '../services/service.ts';
import { workloads as kinds, type WorkloadName } from '../workloads.ts';
import { describePauses, readPauses } from './pauses.ts';

const WORKLOADS: readonly WorkloadName[] = ['get', 'post', 'mix'];
/** Of the peak, which closed connections reach. */
const SHARES = [0.1, 0.5, 0.8];
const PEAK_CONNECTIONS = 32;
const PEAK_SECONDS = 2;
/** Requests that are due while all connections have one wait, and that time counts. */
const CONNECTIONS = 64;
const SECONDS = 5;
const COLUMNS = [
  'service',
  '>load',
  '>requests/s',
  '>p50',
  '>p99',
  '>p99.9',
  '>p99.99',
  '>longest',
  '>generator, p99.9',
  '>collections',
  '>commits',
];

/**
 * Measures latencies under an open load, in which requests are sent when they are due; it takes 20 s for each service and
 * workload.
 *
 * @returns a table of the report for each workload
 */
export async function measureLatencies(
  services: readonly Service[],
  workloads: readonly WorkloadName[],
  meter: Meter,
): Promise<string> {
  const tables = [];
  for (const workload of WORKLOADS.filter((name) => workloads.includes(name))) {
    const rows = [];
    for (const service of services) rows.push(...(await measure(service, workload, meter)));
    tables.push(`${kinds[workload].title}:`, table(COLUMNS, rows));
  }
  return tables.join('\n\n');
}

async function measure(service: Service, workload: WorkloadName, meter: Meter): Promise<string[][]> {
  const measurePeak = () =>
    meter.measure({ service, workload, connections: PEAK_CONNECTIONS, seconds: PEAK_SECONDS });
  await measurePeak();
  const { requestsPerSecond } = await measurePeak();
  const rows = [];
  for (const share of SHARES) {
    const before = await readPauses(service);
    const task = { service, workload, connections: CONNECTIONS, seconds: SECONDS };
    const result = await meter.measureAtRate(task, requestsPerSecond * share);
    const after = await readPauses(service);
    const { responses, failures, delayP999Ms, ...latency } = result;
    if (failures > 0) throw new Error(`${failures} requests failed`);
    rows.push([
      titles[service.name],
      percent(share),
      decimal(responses / result.seconds),
      decimal(latency.p50Ms, 2),
      decimal(latency.p99Ms, 2),
      decimal(latency.p999Ms, 2),
      // Of fewer requests it is the longest latency.
      decimal(responses < 10_000 ? undefined : latency.p9999Ms, 2),
      decimal(latency.maxMs, 1),
      decimal(delayP999Ms, 2),
      before && after ? describePauses(before.collections, after.collections) : '',
      before && after ? describePauses(before.commits, after.commits) : '',
    ]);
  }
  return rows;
}
