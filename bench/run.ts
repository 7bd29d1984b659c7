import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster } from '../testkit/cluster.ts';
import { BOOKS } from './books.ts';
import { assertContract } from './contract.ts';
import { measureLatencies } from './latency.ts';
import type { Generator } from './load/load.ts';
import { measureLongList } from './long-list.ts';
import { Meter } from './measure.ts';
import { type Options, TARGET_CONNECTIONS } from './options.ts';
import { Results } from './results.ts';
import { measureRound } from './rounds.ts';
import {
  type Dependencies,
  ENGINES,
  type Engine,
  isPeer,
  type Service,
  startIfInstalled,
  startService,
} from './services/service.ts';
import { readMemoryBytes } from './services/usage.ts';
import { measureStarts } from './starts.ts';
import { createDatabase } from './tables/postgres.ts';

interface RunDependencies {
  readonly generator: Generator;
  /** For temporary files. */
  readonly folder: string;
  /** Prints a line about the progress. */
  readonly progress: (line: string) => void;
}

/** The wait before memory is read. */
const SETTLE_MS = 2_000;

/** Starts the services, measures the rounds and the extras, and stops the services. */
export async function run(options: Options, tools: RunDependencies): Promise<Results> {
  const results = new Results();
  await using cluster = await startCluster();
  let databases = 0;
  const dependenciesOf = (name: string): Dependencies => ({
    folder: join(tools.folder, name),
    createDatabase: () => createDatabase(cluster.url, `bench_${++databases}`),
  });
  await using stack = new AsyncDisposableStack();
  const services: Service[] = [];
  for (const name of options.services) {
    tools.progress(`starting ${name}`);
    const service = await startIfInstalled(name, dependenciesOf(name));
    if (service) services.push(stack.use(service));
  }
  for (const { table, server } of services) {
    await table?.fill(BOOKS);
    if (table) await assertContract(server.url);
  }

  const meter = new Meter(tools.generator, tools.folder);
  await warmUp(services, meter, tools);
  for (let round = 0; round < options.rounds; round++) {
    await measureRound(round, services, { options, meter, results, progress: tools.progress });
  }
  if (!options.extras) return results;

  tools.progress('latencies under an open load');
  results.latencies = await measureLatencies(services, meter, results);
  await sleep(SETTLE_MS);
  for (const { name, server, program } of services.filter((service) => !isPeer(service.name))) {
    tools.progress(`starts of ${name} on an existing database`);
    const after = readMemoryBytes(server.pid);
    await server[Symbol.asyncDispose]();
    const { ms, idleBytes } = await measureStarts(program);
    results.startsMs.set(name, ms);
    results.memory.set(name, { idle: idleBytes, after, peak: results.peakMemoryBytes(name) });
  }
  for (const name of Object.keys(ENGINES) as Engine[]) {
    if (!options.services.includes(name)) continue;
    tools.progress(`list of 1,000,000 books on ${name}`);
    await using service = await startService(name, dependenciesOf(`${name}-long-list`));
    results.longLists.set(name, await measureLongList(service, meter));
  }
  return results;
}

/** Gives the JIT compiler time to optimize. */
async function warmUp(
  services: readonly Service[],
  meter: Meter,
  { progress }: RunDependencies,
): Promise<void> {
  for (const service of services) {
    progress(`warming up ${service.name}`);
    for (const workload of ['get', 'mix', 'list'] as const) {
      await meter.measure({ service, workload, connections: TARGET_CONNECTIONS, seconds: 1 });
    }
  }
}
