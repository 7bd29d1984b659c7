import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster } from '../../test/support/cluster.ts';
import { chooseGenerator } from '../load/generator.ts';
import { decimal, table } from '../markdown.ts';
import { Meter } from '../measure.ts';
import { type Service, services, startService } from '../services/service.ts';
import { median } from '../statistics.ts';
import { createDatabase } from '../tables/postgres.ts';
import { type WorkloadName, workloads } from '../workloads.ts';

/**
 * Compares services with and without a history, in turns, and prints the rate with it as a share of that without:
 * `node bench/extras/history.ts [workload,workload…]`. Each workload takes two minutes.
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
  const rows: string[][] = [];
  for (const workload of chosen.split(',') as WorkloadName[]) {
    for (const { name, on, off } of pairs) {
      const row = [`${workloads[workload].title}, ${services[name]}`];
      for (const connections of CLIENTS) {
        const shares: number[] = [];
        for (let round = 0; round < ROUNDS; round++) {
          const rates = new Map<Service, number>();
          for (const service of round % 2 === 0 ? [off, on] : [on, off]) {
            const task = { service, workload, connections, seconds: SECONDS };
            rates.set(service, (await meter.measure(task)).requestsPerSecond);
          }
          shares.push((rates.get(on) ?? 0) / (rates.get(off) ?? 0));
        }
        row.push(`${decimal(median(shares), 2)} (${shares.map((share) => decimal(share, 2)).join(', ')})`);
      }
      rows.push(row);
    }
  }
  console.log(table(['', ...CLIENTS.map((clients) => `>${clients} clients`)], rows));
} finally {
  await rm(folder, { recursive: true });
}
