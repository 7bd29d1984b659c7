import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster } from '../test/support/cluster.ts';
import { BOOKS } from './books.ts';
import { expectContract } from './contract.ts';
import { measureLongList } from './extras/long-list.ts';
import { measureSlowDisk } from './extras/slow-disk.ts';
import { measureStarts } from './extras/start-time.ts';
import type { Generator } from './load/generator.ts';
import { Meter } from './measure.ts';
import { type Options, TARGET_CONNECTIONS } from './options.ts';
import { Results } from './results.ts';
import { measureRound } from './rounds.ts';
import { type Service, type ServiceName, type Surroundings, startService } from './services/service.ts';
import { readMemoryBytes } from './services/usage.ts';
import { createDatabase } from './tables/postgres.ts';

/** What a run works with. */
export interface Tools {
  readonly generator: Generator;
  /** For everything that does not outlive the run. */
  readonly folder: string;
  /** Tells people what is going on, a line at a time. */
  readonly progress: (line: string) => void;
}

/** How long memory may settle before it is read. */
const SETTLE_MS = 2_000;

/** The services that have targets. */
const OURS: ReadonlySet<ServiceName> = new Set(['sqlite', 'postgres']);

/** A whole run: starts everything, measures round by round, then the extras, and stops everything. */
export async function run(options: Options, tools: Tools): Promise<Results> {
  const results = new Results();
  await using cluster = await startCluster();
  let databases = 0;
  const surroundingsOf = (name: string): Surroundings => ({
    folder: join(tools.folder, name),
    createDatabase: () => createDatabase(cluster.url, `bench_${++databases}`),
  });
  await using stack = new AsyncDisposableStack();
  const services: Service[] = [];
  for (const name of options.services) {
    tools.progress(`starting ${name}`);
    services.push(stack.use(await startService(name, surroundingsOf(name))));
  }
  await sleep(SETTLE_MS);
  const idle = new Map(services.map(({ name, server }) => [name, readMemoryBytes(server.pid)]));
  for (const { table, server } of services) {
    await table?.fill(BOOKS);
    if (table) await expectContract(server.url);
  }

  const meter = new Meter(tools.generator, tools.folder);
  await warmUp(services, meter, options, tools);
  for (let round = 0; round < options.rounds; round++) {
    await measureRound(round, services, { options, meter, results, progress: tools.progress });
  }
  if (!options.extras) return results;

  await sleep(SETTLE_MS);
  for (const { name, server } of services) {
    results.memory.set(name, {
      idle: idle.get(name) ?? Number.NaN,
      after: readMemoryBytes(server.pid),
      peak: results.peakMemoryBytes(name),
    });
  }
  for (const { name, server, program } of services) {
    tools.progress(`starts of ${name} on an existing database`);
    await server[Symbol.asyncDispose]();
    results.startsMs.set(name, await measureStarts(program));
  }
  for (const name of options.services) {
    if (!OURS.has(name)) continue;
    tools.progress(`list of 1,000,000 books on ${name}`);
    await using service = await startService(name, surroundingsOf(`${name}-long-list`));
    results.longLists.set(name, await measureLongList(service, meter));
  }
  if (options.services.includes('sqlite')) {
    tools.progress('sqlite on a slow disk');
    results.slowDisk = await measureSlowDisk(surroundingsOf('slow-disk'), meter);
  }
  return results;
}

/** The runtime compiles what is used often; nobody is measured before it has had the time for that. */
async function warmUp(
  services: readonly Service[],
  meter: Meter,
  { seconds }: Options,
  { progress }: Tools,
): Promise<void> {
  for (const service of services) {
    progress(`warming up ${service.name}`);
    for (const workload of ['get', 'mix', 'list'] as const) {
      await meter.measure({ service, workload, connections: TARGET_CONNECTIONS, seconds });
    }
  }
}
