import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster } from '../../testkit/cluster.ts';
import { chooseGenerator } from '../load/generator.ts';
import { decimal, table } from '../markdown.ts';
import { Meter } from '../measure.ts';
import { type Service, services, startService } from '../services/service.ts';
import { readCpuSeconds, waitUntilIdle } from '../services/usage.ts';
import { median } from '../statistics.ts';
import { createDatabase } from '../tables/postgres.ts';
import { type WorkloadName, workloads } from '../workloads.ts';

/**
 * Compares services with and without a history, in turns, and prints rate and CPU time of a request with it as shares of those
 * without: `node bench/extras/history.ts [workload,workload…]`. Each workload takes two minutes.
 */

const [, , chosen = 'post,put,delete'] = process.argv;
const CLIENTS = [1, 32, 128];
const ROUNDS = 4;
const SECONDS = 1;

const folder = await mkdtemp(join(tmpdir(), 'bookkeeping-history-'));
const meter = new Meter(chooseGenerator(), folder);
try {
  await using resources = new AsyncDisposableStack();
  const cluster = resources.use(await startCluster());
  const start = async (name: 'sqlite' | 'postgres', HISTORY: string): Promise<Service> => {
    const place = `${name}_${HISTORY}`;
    const createOwn = () => createDatabase(cluster.url, place);
    const dependencies = { folder: join(folder, place), createDatabase: createOwn, variables: { HISTORY } };
    return resources.use(await startService(name, dependencies));
  };
  const pairs = [];
  for (const name of ['sqlite', 'postgres'] as const)
    pairs.push({ name, off: await start(name, 'off'), on: await start(name, 'on') });
  const measure = async (service: Service, workload: WorkloadName, connections: number) => {
    const books = workloads[workload].books(SECONDS);
    await service.table?.fill(books);
    const pids = [service.server.pid, ...(service.databaseUrl === undefined ? [] : [cluster.pid ?? 0])];
    const used = () => pids.reduce((sum, pid) => sum + readCpuSeconds(pid), 0);
    const before = used();
    const task = { service, workload, connections, seconds: SECONDS, books };
    const { responses, seconds } = await meter.run(task);
    await waitUntilIdle(service.server.pid);
    return { rate: responses / seconds, cpuSeconds: (used() - before) / responses };
  };
  const rows: string[][] = [];
  for (const workload of chosen.split(',') as WorkloadName[]) {
    for (const { name, on, off } of pairs) {
      const row = [`${workloads[workload].title}, ${services[name]}`];
      for (const connections of CLIENTS) {
        const rates: number[] = [];
        const costs: number[] = [];
        for (let round = 0; round < ROUNDS; round++) {
          const found = new Map<Service, Awaited<ReturnType<typeof measure>>>();
          for (const service of round % 2 === 0 ? [off, on] : [on, off])
            found.set(service, await measure(service, workload, connections));
          const [without, withHistory] = [found.get(off), found.get(on)];
          if (!without || !withHistory) continue;
          rates.push(withHistory.rate / without.rate);
          costs.push(withHistory.cpuSeconds / without.cpuSeconds);
        }
        row.push(decimal(median(rates), 2), decimal(median(costs), 2));
        console.error(row.join(' '));
      }
      rows.push(row);
    }
  }
  const columns = CLIENTS.flatMap((clients) => [`>${clients} clients: rate`, '>CPU time']);
  console.log(table(['', ...columns], rows));
} finally {
  await rm(folder, { recursive: true });
}
