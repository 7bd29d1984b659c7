import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster } from '../testkit/cluster.ts';
import { BOOKS } from './books.ts';
import { assertContract, assertSearches, waitForIndex } from './contract.ts';
import type { Generator } from './load/load.ts';
import { measureLongList } from './long-list.ts';
import { Meter } from './measure.ts';
import type { Options } from './options.ts';
import { Results } from './results.ts';
import { measureRound } from './rounds.ts';
import {
  type Dependencies,
  ENGINES,
  type Engine,
  isPeer,
  KEPT,
  type Kept,
  type Service,
  type ServiceName,
  startIfInstalled,
  startService,
} from './services/service.ts';
import { readMemoryBytes } from './services/usage.ts';
import { measureStarts } from './starts.ts';
import { createDatabase } from './tables/postgres.ts';
import { WRITE_WORKLOADS } from './workloads.ts';

interface RunDependencies {
  readonly generator: Generator;
  /** For temporary files. */
  readonly folder: string;
  /** Prints a line about the progress. */
  readonly progress: (line: string) => void;
}

/** Shorter than the rounds, as eight services are compared. */
const WRITE_COSTS = { rounds: 2, seconds: 1 };
/** The wait before memory is read. */
const SETTLE_MS = 2_000;

/** Starts the services, measures the rounds and the extras, and stops the services. */
export async function run(
  options: Options,
  { generator, folder, progress }: RunDependencies,
): Promise<Results> {
  const results = new Results();
  const meter = new Meter(generator, folder);
  await using cluster = await startCluster();
  let databases = 0;
  const dependenciesOf = (name: string): Dependencies => ({
    folder: join(folder, name),
    createDatabase: () => createDatabase(cluster.url, `bench_${++databases}`),
  });
  /** Measures workloads in rounds on services with {@link BOOKS} books. */
  const measureRounds = async (
    services: readonly Service[],
    workloads: Options['workloads'],
    timing: Options = options,
  ) => {
    for (const service of services) await warmUp(service, meter);
    for (let round = 0; round < timing.rounds; round++)
      await measureRound(round, services, { options: { ...timing, workloads }, meter, results, progress });
  };
  const startAll = async (names: readonly ServiceName[], stack: AsyncDisposableStack, suffix = '') => {
    const services: Service[] = [];
    for (const name of names) {
      progress(`starting ${name}`);
      const service = await startIfInstalled(name, dependenciesOf(`${name}${suffix}`));
      if (service) services.push(stack.use(service));
      await service?.table?.fill(BOOKS);
      if (service?.table) await assertContract(service.server.url);
    }
    return services;
  };

  {
    await using stack = new AsyncDisposableStack();
    const services = await startAll(options.services, stack);
    await measureRounds(
      services,
      options.workloads.filter((workload) => workload !== 'search'),
    );
    if (options.extras) {
      await sleep(SETTLE_MS);
      for (const { name, server, program } of services.filter((service) => !isPeer(service.name))) {
        progress(`starts of ${name} on an existing database`);
        const after = readMemoryBytes(server.pid);
        await server[Symbol.asyncDispose]();
        const { ms, idleBytes } = await measureStarts(program);
        results.startsMs.set(name, ms);
        results.memory.set(name, { idle: idleBytes, after, peak: results.peakMemoryBytes(name) });
      }
    }
  }
  if (options.workloads.includes('search')) {
    // On services of their own: from the first search on, the service has an index, and writes cost more.
    await using stack = new AsyncDisposableStack();
    const names = options.services.filter((name) => name !== 'floor');
    const services = await startAll(names, stack, '-search');
    for (const { server } of services) await assertSearches(server.url);
    await measureRounds(services, ['search']);
  }
  if (!options.extras) return results;
  for (const engine of Object.keys(ENGINES) as Engine[]) {
    if (!options.services.includes(engine)) continue;
    progress(`writes with and without a history and a search index on ${engine}`);
    await using stack = new AsyncDisposableStack();
    const services: Service[] = [];
    for (const kept of Object.keys(KEPT) as Kept[])
      services.push(stack.use(await startKeeping(kept, engine, dependenciesOf(`${engine}-${kept}`))));
    const { rounds } = WRITE_COSTS;
    await measureRounds(services, WRITE_WORKLOADS, {
      ...options,
      ...WRITE_COSTS,
      rounds: Math.min(rounds, options.rounds),
    });
  }
  for (const name of Object.keys(ENGINES) as Engine[]) {
    if (!options.services.includes(name)) continue;
    progress(`list of 1,000,000 books on ${name}`);
    await using service = await startService(name, dependenciesOf(`${name}-long-list`));
    results.longLists.set(name, await measureLongList(service, meter));
  }
  return results;
}

/** Starts a service whose books, when they are filled in, are in the index, if it keeps one. */
async function startKeeping(kept: Kept, engine: Engine, dependencies: Dependencies): Promise<Service> {
  const HISTORY = kept === 'history' || kept === 'both' ? 'on' : 'off';
  const service = await startService(engine, { ...dependencies, variables: { HISTORY } });
  const { table, server } = service;
  if (!table || kept === 'neither' || kept === 'history') return { ...service, kept };
  const fill = async (count: number) => {
    await table.fill(count);
    await waitForIndex(server.url);
  };
  return { ...service, kept, table: { ...table, fill } };
}

/** Gives the JIT compiler time to optimize. */
async function warmUp(service: Service, meter: Meter): Promise<void> {
  for (const workload of ['get', 'post', 'list'] as const)
    await meter.measure({ service, workload, connections: 32, seconds: 1 });
}
