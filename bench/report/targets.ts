import type { LongListResult } from '../long-list.ts';
import type { Series } from '../measure.ts';
import { TARGET_CONNECTIONS } from '../options.ts';
import type { PgbenchWorkload } from '../pgbench.ts';
import type { Results } from '../results.ts';
import { ENGINES, type Engine, type ServiceName } from '../services/service.ts';
import { median } from '../statistics.ts';
import { PEER_WORKLOADS, type WorkloadName, workloads } from '../workloads.ts';
import { decimal } from './markdown.ts';

export interface Target {
  readonly title: string;
  readonly bound: 'at least' | 'more than' | 'at most';
  readonly limit: number;
  readonly unit: string;
  readonly decimals: number;
  /** @returns undefined when it was not measured */
  readonly measure: (results: Results) => number | undefined;
  readonly remark?: (results: Results) => string;
}

export function reaches({ bound, limit }: Target, value: number): boolean {
  if (bound === 'at most') return value <= limit;
  return bound === 'at least' ? value >= limit : value > limit;
}

/** Targets that are rates assume this rate of the floor. */
const FLOOR_RATE = 78_000;

/** All targets, in the order of the report. */
export const targets: readonly Target[] = [
  ...forEngines(0.75, 0.6, (engine, limit) => ofFloor('get', engine, limit)),
  ofPgbench('get', 'more than', 1),
  ...forEngines(0.4, 0.4, (engine, limit) => ofFloor('post', engine, limit)),
  ...forEngines(0.33, 0.33, (engine, limit) => ofFloor('put', engine, limit)),
  ofPgbench('put', 'at least', 0.8),
  ...forEngines(600, 400, lists),
  ...forEngines(1.5, 3, latency),
  ...(['sqlite', 'postgres'] as const).flatMap((engine) => [
    ...PEER_WORKLOADS.map((workload) => ofElysia(at(engine, workload, 1), 1)),
    ofElysia(at(engine, 'list'), 2.5),
  ]),
  ...longLists('first byte', 50, 'ms', ({ firstByteMs }) => firstByteMs),
  ...longLists('memory above idle', 64, 'MB', ({ readingBytes }) => readingBytes / 1e6),
  ...longLists('memory above idle, stalled reader', 64, 'MB', ({ stalledBytes }) => stalledBytes / 1e6),
  ...longLists('p99 of GET one while it is read', 3, '× without a list', ({ p99Ratio }) => p99Ratio.reading),
  ...longLists(
    'p99 of GET one while it is stalled',
    3,
    '× without a list',
    ({ p99Ratio }) => p99Ratio.stalled,
  ),
  ...forEngines(400, 400, starts),
  ...forEngines(120, 120, (engine, limit) => memory('idle', engine, limit)),
  ...forEngines(250, 250, (engine, limit) => memory('after', engine, limit)),
];

function forEngines(
  sqliteLimit: number,
  postgresLimit: number,
  make: (engine: Engine, limit: number) => Target,
): Target[] {
  return [make('sqlite', sqliteLimit), make('postgres', postgresLimit)];
}

/** Relative to GET one on the floor; the remark has the ratio for the same workload. */
function ofFloor(workload: 'get' | 'post' | 'put', engine: Engine, limit: number): Target {
  const own = at(engine, workload);
  const titles = { get: 'GET one', post: 'POST', put: 'PUT' };
  return {
    title: `${titles[workload]}, ${ENGINES[engine]}`,
    bound: 'at least',
    limit,
    unit: '× the floor',
    decimals: 2,
    measure: (results) => results.ratio(own, at('floor', 'get'), 'requestsPerSecond'),
    remark: (results) => {
      const rate = `${decimal(results.median(own, 'requestsPerSecond'))} requests/s`;
      if (workload === 'get') return rate;
      const ratio = results.ratio(own, at('floor', workload), 'requestsPerSecond');
      return `${rate}; ${decimal(ratio, 2)} × the floor with the same requests`;
    },
  };
}

function ofPgbench(workload: PgbenchWorkload, bound: Target['bound'], limit: number): Target {
  const titles = {
    get: 'GET one, PostgreSQL, relative to selects',
    put: 'PUT, PostgreSQL, relative to updates',
  };
  return {
    title: `${titles[workload]} by pgbench`,
    bound,
    limit,
    unit: '× pgbench',
    decimals: 2,
    measure: (results) => results.ratioToPgbench({ ...at('postgres', workload), workload }),
    remark: ({ pgbench }) => {
      const rate = median(pgbench[workload].filter((of) => of !== undefined));
      return rate === undefined ? '' : `pgbench: ${decimal(rate)} transactions/s`;
    },
  };
}

function ofElysia(
  { service, workload, connections }: Series & { readonly service: Engine },
  limit: number,
): Target {
  const clients = connections === 1 ? '1 connection' : `${connections} connections`;
  return {
    title: `${workloads[workload].title} at ${clients}, ${ENGINES[service]}, relative to Elysia`,
    bound: 'at least',
    limit,
    unit: '× Elysia',
    decimals: 2,
    measure: (results) => {
      const own = { service, workload, connections };
      return results.ratio(own, { ...own, service: `elysia-${service}` }, 'requestsPerSecond');
    },
  };
}

function lists(engine: Engine, limit: number): Target {
  const own = at(engine, 'list');
  return {
    title: `GET /books of 10,000 books, ${ENGINES[engine]}`,
    bound: 'at least',
    limit,
    unit: `requests/s if the floor had ${decimal(FLOOR_RATE)}`,
    decimals: 0,
    measure: (results) => {
      const ratio = results.ratio(own, at('floor', 'get'), 'requestsPerSecond');
      return ratio === undefined ? undefined : ratio * FLOOR_RATE;
    },
    remark: (results) => `${decimal(results.median(own, 'requestsPerSecond'))} requests/s on this machine`,
  };
}

function latency(engine: Engine, limit: number): Target {
  return {
    title: `GET one at 1 connection, ${ENGINES[engine]}, p50`,
    bound: 'at most',
    limit,
    unit: '× the floor',
    decimals: 2,
    measure: (results) => results.ratio(at(engine, 'get', 1), at('floor', 'get', 1), 'p50Ms'),
  };
}

function longLists(
  title: string,
  limit: number,
  unit: string,
  read: (result: LongListResult) => number,
): Target[] {
  return forEngines(limit, limit, (engine) => ({
    title: `GET /books of 1,000,000 books, ${ENGINES[engine]}: ${title}`,
    bound: 'at most',
    limit,
    unit,
    decimals: 1,
    measure: ({ longLists: results }) => {
      const result = results.get(engine);
      return result && read(result);
    },
  }));
}

function starts(engine: Engine, limit: number): Target {
  return {
    title: `start to first response, ${ENGINES[engine]}`,
    bound: 'at most',
    limit,
    unit: 'ms',
    decimals: 0,
    measure: ({ startsMs }) => median(startsMs.get(engine) ?? []),
  };
}

function memory(when: 'idle' | 'after', engine: Engine, limit: number): Target {
  return {
    title: `memory ${when === 'idle' ? 'idle' : 'after the run'}, ${ENGINES[engine]}`,
    bound: 'at most',
    limit,
    unit: 'MB',
    decimals: 0,
    measure: (results) => {
      const bytes = results.memory.get(engine)?.[when];
      return bytes === undefined ? undefined : bytes / 1e6;
    },
  };
}

function at<Name extends ServiceName>(
  service: Name,
  workload: WorkloadName,
  connections = TARGET_CONNECTIONS,
): Series & { readonly service: Name } {
  return { service, workload, connections };
}
