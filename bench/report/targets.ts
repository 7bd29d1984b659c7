import type { LongListResult } from '../long-list.ts';
import type { Series } from '../measure.ts';
import { CONNECTIONS } from '../options.ts';
import type { Results } from '../results.ts';
import { ENGINES, type Engine, PEERS, type Peer } from '../services/service.ts';
import { median } from '../statistics.ts';
import { WORKLOAD_NAMES, type WorkloadName, WRITE_WORKLOADS, workloads } from '../workloads.ts';

export interface Target {
  readonly title: string;
  readonly bound: 'at least' | 'at most';
  readonly limit: number;
  readonly unit: string;
  readonly decimals: number;
  /** @returns undefined when it was not measured */
  readonly measure: (results: Results) => number | undefined;
  readonly remark?: (results: Results) => string;
}

export function reaches({ bound, limit }: Target, value: number): boolean {
  return bound === 'at most' ? value <= limit : value >= limit;
}

const [LONE = 1, SEVERAL = 32] = CONNECTIONS;

/** What a release must hold. */
export const guards: readonly Target[] = [
  ...forEngines(0.8, 1.1, (engine, limit) => lowestRate(engine, SEVERAL, ['get'], limit)),
  ...forEngines(2.5, 2.5, (engine, limit) => lowestRate(engine, SEVERAL, ['list'], limit)),
  ...forEngines(2.5, 1.3, (engine, limit) => lowestRate(engine, SEVERAL, WRITE_WORKLOADS, limit)),
  ...longLists('first byte', 50, 'ms', ({ firstByteMs }) => firstByteMs),
  ...longLists('memory above idle', 64, 'MB', ({ readingBytes }) => readingBytes / 1e6).slice(0, 1),
  ...longLists('memory above idle, stalled reader', 96, 'MB', ({ stalledBytes }) => stalledBytes / 1e6),
  ...longLists('p99 of GET one while a reader stalls', 3, '× without', ({ p99Ratio }) => p99Ratio.stalled),
  ...forEngines(400, 400, starts),
  ...forEngines(120, 120, (engine, limit) => memory('idle', engine, limit)),
  ...forEngines(250, 250, (engine, limit) => memory('after', engine, limit)),
];

/** What somebody works on: at most ten. */
export const goals: readonly Target[] = [
  ...forEngines(0.85, 0.8, (engine, limit) =>
    lowestRate(engine, LONE, ['get', ...WRITE_WORKLOADS], limit, ['elysia']),
  ),
  ...forEngines(0.85, 0.6, (engine, limit) => lowestRate(engine, LONE, ['list'], limit, ['elysia'])),
  ...forEngines(1, 1, (engine, limit) => lowestRate(engine, SEVERAL, ['page', 'search'], limit)),
  highestP99(2),
  ...longLists('memory above idle', 64, 'MB', ({ readingBytes }) => readingBytes / 1e6).slice(1),
  ...longLists('p99 of GET one while it is read', 3, '× without', ({ p99Ratio }) => p99Ratio.reading),
];

function forEngines(
  sqliteLimit: number,
  postgresLimit: number,
  make: (engine: Engine, limit: number) => Target,
): Target[] {
  return [make('sqlite', sqliteLimit), make('postgres', postgresLimit)];
}

/** A ratio to a peer with a workload. */
interface Cell {
  readonly workload: WorkloadName;
  readonly ratio: number;
}

/** The lowest ratio of the rate to that of a peer. */
function lowestRate(
  engine: Engine,
  connections: number,
  names: readonly WorkloadName[],
  limit: number,
  peers: readonly Peer[] = Object.keys(PEERS) as Peer[],
): Target {
  const lowest = (results: Results) =>
    names
      .flatMap((workload) =>
        peers.flatMap((peer): Cell[] => {
          const own = { service: engine, workload, connections } as const;
          const ratio = results.ratio(own, onPeer(peer, own), 'requestsPerSecond');
          return ratio === undefined ? [] : [{ workload, ratio }];
        }),
      )
      .toSorted((left, right) => left.ratio - right.ratio)[0];
  const what = names.map((name) => workloads[name].title).join(', ');
  return {
    title: `${what} at ${clientsOf(connections)}, ${ENGINES[engine]}: the lowest rate`,
    bound: 'at least',
    limit,
    unit: `× ${peers.map((peer) => PEERS[peer]).join(' and ')}`,
    decimals: 2,
    measure: (results) => lowest(results)?.ratio,
    remark: (results) => nameOf(names, lowest(results)),
  };
}

/** The highest ratio of a lone client's p99 to the lower of its peers. */
function highestP99(limit: number): Target {
  const highest = (results: Results) =>
    (Object.keys(ENGINES) as Engine[])
      .flatMap((service) =>
        WORKLOAD_NAMES.flatMap((workload) => {
          const own = { service, workload, connections: LONE } as const;
          const p99 = results.median(own, 'p99Ms');
          const ofPeers = (Object.keys(PEERS) as Peer[]).flatMap(
            (peer) => results.median(onPeer(peer, own), 'p99Ms') ?? [],
          );
          if (p99 === undefined || ofPeers.length === 0) return [];
          return [{ service, workload, ratio: p99 / Math.min(...ofPeers) }];
        }),
      )
      .toSorted((left, right) => right.ratio - left.ratio)[0];
  return {
    title: `p99 at ${clientsOf(LONE)}: the highest`,
    bound: 'at most',
    limit,
    unit: '× the better peer',
    decimals: 1,
    measure: (results) => highest(results)?.ratio,
    remark: (results) => {
      const cell = highest(results);
      return cell ? `${workloads[cell.workload].title}, ${ENGINES[cell.service]}` : '';
    },
  };
}

/** Names the workload of a cell when there are several. */
function nameOf(names: readonly WorkloadName[], cell: Cell | undefined): string {
  return cell === undefined || names.length === 1 ? '' : workloads[cell.workload].title;
}

function clientsOf(connections: number): string {
  return connections === 1 ? '1 connection' : `${connections} connections`;
}

/** The same workload on a peer with the same engine. */
export function onPeer(
  peer: Peer,
  { service: engine, ...rest }: Series & { readonly service: Engine },
): Series {
  return { ...rest, service: `${peer}-${engine}` };
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
