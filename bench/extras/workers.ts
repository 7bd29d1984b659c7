import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../campaigns/random.ts';
import { startCluster } from '../../testkit/cluster.ts';
import { BOOKS, makeBooks } from '../books.ts';
import { decimal, megabytes, table } from '../report/markdown.ts';
import { type Service, startService } from '../services/service.ts';
import { childrenOf, readMemoryBytes } from '../services/usage.ts';
import { median } from '../statistics.ts';
import { createDatabase } from '../tables/postgres.ts';
import { rateOf } from './rate.ts';

/**
 * Measures what several workers serve, and prints a table: `node bench/extras/workers.ts [engine] [rounds]`. The workers get
 * a part of a core each, so that the load generator is no limit. Needs Linux, root, and control groups (cgroups(7)).
 */

const [, , only, rounds = '5'] = process.argv;
const WORKERS = 4;
/** The part of a core for each of several workers. */
const PART = 0.25;
/** For each of several workers as many as the benchmark has for one. */
const CONNECTIONS = 128;
const SECONDS = 3;
const WARM_UP_SECONDS = 6;

const random = new Random(1);
const REQUESTS = {
  'GET one': Array.from({ length: 10_000 }, () => `GET /book/${1 + random.below(BOOKS)}`),
  POST: makeBooks(10_000, 1).map((book) => `POST /book ${JSON.stringify(book)}`),
};
type Workload = keyof typeof REQUESTS;

/** The limits of a row, in cores. The first process, of several, has no other limit than that in all. */
const CASES = [
  { workload: 'GET one', workers: 1, each: PART },
  { workload: 'GET one', workers: WORKERS, each: PART },
  { workload: 'POST', workers: 1, each: WORKERS * PART },
  { workload: 'POST', workers: WORKERS, each: PART },
  { workload: 'POST', workers: WORKERS, each: PART, all: WORKERS * PART },
] as const satisfies readonly { workload: Workload; workers: number; each: number; all?: number }[];

/** The default of Linux. */
const PERIOD_US = 100_000;

/** Control groups for a service and each of its processes, below that of this process. */
class Limits {
  readonly #group: string;
  readonly #members: readonly string[];

  constructor({ server: { pid } }: Service) {
    const controller = /^\d+:(?:cpu|cpu,cpuacct):(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
    const root = controller === undefined ? '/sys/fs/cgroup' : join('/sys/fs/cgroup/cpu', controller);
    this.#group = join(root, `bookkeeping-${pid}`);
    const children = childrenOf(pid);
    this.#members = [pid, ...children].map((member) => join(this.#group, `${member}`));
    for (const path of [this.#group, ...this.#members]) {
      const control = join(path, '..', 'cgroup.subtree_control');
      if (existsSync(control)) writeFileSync(control, '+cpu');
      mkdirSync(path);
    }
    for (const [index, member] of [pid, ...children].entries()) {
      writeFileSync(join(this.#members[index] ?? '', 'cgroup.procs'), `${member}`);
    }
  }

  /** @param each the cores of a worker @param all the cores of all processes; no limit if absent */
  set(each: number, all: number | undefined): void {
    const [first = '', ...workers] = this.#members;
    // Members may not have more than the group.
    this.#limit(this.#group, undefined);
    for (const worker of workers.length > 0 ? workers : [first]) this.#limit(worker, each);
    this.#limit(this.#group, all);
  }

  /** Call it when the processes have exited, or move them out before. */
  remove(): void {
    for (const member of this.#members) {
      const pids = readFileSync(join(member, 'cgroup.procs'), 'utf8').trim();
      for (const pid of pids === '' ? [] : pids.split('\n')) {
        writeFileSync(join(this.#group, '..', 'cgroup.procs'), pid);
      }
      rmdirSync(member);
    }
    rmdirSync(this.#group);
  }

  #limit(path: string, cores: number | undefined): void {
    const quota = cores === undefined ? undefined : cores * PERIOD_US;
    if (existsSync(join(path, 'cpu.max')))
      writeFileSync(join(path, 'cpu.max'), `${quota ?? 'max'} ${PERIOD_US}`);
    else writeFileSync(join(path, 'cpu.cfs_quota_us'), `${quota ?? -1}`);
  }
}

const folder = await mkdtemp(join(tmpdir(), 'bookkeeping-workers-'));
try {
  for (const engine of ['sqlite', 'postgres'] as const) {
    if (only === undefined || only === engine) await measure(engine);
  }
} finally {
  await rm(folder, { recursive: true });
}

async function measure(engine: 'sqlite' | 'postgres'): Promise<void> {
  await using cluster = engine === 'postgres' ? await startCluster() : undefined;
  const start = async (workers: number) => {
    const service = await startService(engine, {
      folder: join(folder, `${engine}-${workers}`),
      createDatabase: () => createDatabase(cluster?.url ?? '', `workers${workers}`),
      variables: { WORKERS: `${workers}` },
    });
    await service.table?.fill(BOOKS);
    const children = workers > 1 ? workers : 0;
    while (childrenOf(service.server.pid).length < children) await sleep(50);
    return service;
  };
  await using one = await start(1);
  await using several = await start(WORKERS);
  for (const workload of Object.keys(REQUESTS) as Workload[]) {
    for (const service of [one, several])
      await rateOf(service, {
        requests: REQUESTS[workload],
        connections: CONNECTIONS,
        seconds: WARM_UP_SECONDS,
      });
  }
  await using limits = { one: new Limits(one), several: new Limits(several), [Symbol.asyncDispose]: release };
  async function release() {
    limits.one.remove();
    limits.several.remove();
  }

  const rates: number[][] = CASES.map(() => []);
  for (let round = 0; round < Number(rounds); round++) {
    for (const [index, { workload, workers, each, ...rest }] of CASES.entries()) {
      limits[workers === 1 ? 'one' : 'several'].set(each, 'all' in rest ? rest.all : undefined);
      const load = { requests: REQUESTS[workload], connections: CONNECTIONS, seconds: SECONDS };
      rates[index]?.push(await rateOf(workers === 1 ? one : several, load));
    }
  }
  const medians = rates.map((values) => median(values) ?? Number.NaN);
  const rows = CASES.map(({ workload, workers, each, ...rest }, index) => {
    const base = medians[CASES.findIndex((other) => other.workload === workload)] ?? Number.NaN;
    const cores = `${each}${workers > 1 ? ' each' : ''}${'all' in rest ? `, ${rest.all} with the first process` : ''}`;
    const rate = medians[index] ?? Number.NaN;
    return [workload, `${workers}`, cores, decimal(rate), decimal(rate / base, 2)];
  });
  console.log(`${engine}, ${CONNECTIONS} connections, medians of ${rounds} rounds\n`);
  console.log(table(['', '>workers', 'cores', '>requests/s', '>ratio'], rows));
  const [oneBytes, severalBytes] = [one, several].map(({ server }) => megabytes(readMemoryBytes(server.pid)));
  console.log(`\nResident memory: ${oneBytes} MB with 1 worker, ${severalBytes} MB with ${WORKERS}\n`);
}
