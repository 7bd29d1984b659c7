import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster } from '../../test/support/cluster.ts';
import { chooseGenerator } from '../load/generator.ts';
import { decimal, percent, table } from '../markdown.ts';
import { Meter } from '../measure.ts';
import {
  SERVICE_NAMES,
  type Service,
  type ServiceName,
  services,
  startService,
} from '../services/service.ts';
import { createDatabase } from '../tables/postgres.ts';
import { type WorkloadName, workloads } from '../workloads.ts';
import { describePauses, readPauses } from './pauses.ts';

/**
 * Measures latencies under an open load, in which requests are sent when they are due, and prints a table:
 * `node bench/extras/latency.ts [workload,workload…] [service,service…]`. By default it takes four minutes.
 */

const [, , chosenWorkloads = 'get,post,mix', chosenServices = SERVICE_NAMES.join(',')] = process.argv;
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

const folder = await mkdtemp(join(tmpdir(), 'bookkeeping-latency-'));
const meter = new Meter(chooseGenerator(), folder);
try {
  await using cluster = await startCluster();
  await using stack = new AsyncDisposableStack();
  const running: Service[] = [];
  for (const name of chosenServices.split(',') as ServiceName[]) {
    const createDatabaseOf = () => createDatabase(cluster.url, `latency_${name}`);
    running.push(
      stack.use(await startService(name, { folder: join(folder, name), createDatabase: createDatabaseOf })),
    );
  }
  for (const workload of chosenWorkloads.split(',') as WorkloadName[]) {
    const rows = [];
    for (const service of running) rows.push(...(await measure(service, workload)));
    console.log(`\n## ${workloads[workload].title}\n\n${table(COLUMNS, rows)}`);
  }
} finally {
  await rm(folder, { recursive: true });
}

async function measure(service: Service, workload: WorkloadName): Promise<string[][]> {
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
      services[service.name],
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
