import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startCluster } from '../../testkit/cluster.ts';
import { chooseGenerator } from '../load/generator.ts';
import { type Measurement, Meter } from '../measure.ts';
import { decimal, table } from '../report/markdown.ts';
import { ENGINES, type Engine, type Service, startService } from '../services/service.ts';
import { median } from '../statistics.ts';
import { createDatabase } from '../tables/postgres.ts';
import { type WorkloadName, workloads } from '../workloads.ts';

const USAGE = `usage: node bench/extras/compare.ts [options] FOLDER[,VARIABLE=VALUE…] FOLDER[,VARIABLE=VALUE…]…

Measures versions of the service in turns, each with a clone of the project and settings, and prints the ratios of rate, CPU time of a
request and p99 to those of the first one. For example, a change: ../before .; and a setting: . .,HISTORY=off

  --engines A,B      sqlite,postgres
  --workloads A,B    get,list,post,put,delete
  --connections A,B  1,32
  --rounds N         4; each takes 1.5 s for every version, workload and number of connections`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    engines: { type: 'string', default: 'sqlite,postgres' },
    workloads: { type: 'string', default: 'get,list,post,put,delete' },
    connections: { type: 'string', default: '1,32' },
    rounds: { type: 'string', default: '4' },
  },
});
if (positionals.length < 2) {
  console.error(USAGE);
  process.exit(2);
}

const folder = await mkdtemp(join(tmpdir(), 'bookkeeping-compare-'));
const meter = new Meter(chooseGenerator(), folder);
try {
  await using cluster = await startCluster();
  for (const engine of values.engines.split(',') as Engine[]) {
    await using resources = new AsyncDisposableStack();
    const services: Service[] = [];
    for (const [index, version] of positionals.entries()) {
      const [root = '', ...settings] = version.split(',');
      const place = `${engine}_${index}`;
      const dependencies = {
        root: resolve(root),
        folder: join(folder, place),
        createDatabase: () => createDatabase(cluster.url, place),
        variables: Object.fromEntries(settings.map((setting) => setting.split('='))),
      };
      services.push(resources.use(await startService(engine, dependencies)));
    }
    await compare(engine, services);
  }
} finally {
  await rm(folder, { recursive: true });
}

type Rates = Pick<Measurement, 'requestsPerSecond' | 'cpuMicroseconds' | 'p99Ms'>;

async function compare(engine: Engine, services: readonly Service[]): Promise<void> {
  for (const service of services) {
    for (const workload of ['get', 'post', 'list'] as const)
      await meter.measure({ service, workload, connections: 32, seconds: 1 });
  }
  const rows: string[][] = [];
  for (const workload of values.workloads.split(',') as WorkloadName[]) {
    for (const connections of values.connections.split(',').map(Number)) {
      const rounds: Rates[][] = [];
      for (let round = 0; round < Number(values.rounds); round++) {
        const rates: Rates[] = [];
        // Every round begins with another version.
        for (let turn = 0; turn < services.length; turn++) {
          const index = (round + turn) % services.length;
          const service = services[index] as Service;
          const measured = await meter.measure({ service, workload, connections, seconds: 1 });
          if (measured.failures > 0) throw new Error(`${measured.failures} requests failed`);
          rates[index] = measured;
        }
        rounds.push(rates);
      }
      const ratios = (index: number, metric: keyof Rates) =>
        decimal(
          median(rounds.map((rates) => (rates[index]?.[metric] ?? NaN) / (rates[0]?.[metric] ?? NaN))),
          2,
        );
      rows.push([
        `${workloads[workload].title}, ${connections}`,
        decimal(median(rounds.map(([first]) => first?.requestsPerSecond ?? NaN))),
        ...services
          .slice(1)
          .flatMap((_, index) =>
            (['requestsPerSecond', 'cpuMicroseconds', 'p99Ms'] as const).map((metric) =>
              ratios(index + 1, metric),
            ),
          ),
      ]);
      console.error(rows.at(-1)?.join(' '));
    }
  }
  const columns = positionals.slice(1).flatMap((version) => [`>${version}: rate`, '>CPU', '>p99']);
  console.log(
    `\n${table([`${ENGINES[engine]}, connections`, `>${positionals[0]}: requests/s`, ...columns], rows)}\n`,
  );
}
