import { PEER_CONNECTIONS } from '../options.ts';
import type { Results } from '../results.ts';
import { ENGINES, type Engine, PEERS, type Peer } from '../services/service.ts';
import { PEER_WORKLOADS, type WorkloadName, workloads } from '../workloads.ts';
import { decimal, table } from './markdown.ts';

/** Compares the service with its peers: the first tables of the report. */
export function renderPeers(results: Results): string {
  const rateOf = (series: Cell) =>
    Object.keys(PEERS).map((peer) =>
      decimal(results.ratio(series, onPeer(peer as Peer, series), 'requestsPerSecond'), 2),
    );
  const p99Of = (series: Cell) =>
    [series, ...Object.keys(PEERS).map((peer) => onPeer(peer as Peer, series))].map((one) =>
      decimal(results.median(one, 'p99Ms'), 1),
    );
  const peers = Object.values(PEERS).join(' / ');
  return [
    'The peers implement the contract in plain Go (`net/http`, pgx, go-sqlite3) and with Elysia on Bun (`Bun.SQL`, `bun:sqlite`): the same durability, prepared statements and number of connections to PostgreSQL, but no log, limits, history or metrics. They pass all rules of the specification in the conformance kit (`npm run conformance -- --only specification`). `bench/peers` has them.',
    `Rates of the service as a ratio to those of its peers on the same engine: ${peers}. Above 1, the service is faster. GET /books at 32 connections is that of 32 clients who ask for the same list: the service reads it once for those who ask at the same time. Lists that differ are not measured here.`,
    renderCells(rateOf),
    `p99 in milliseconds: the service / ${peers}.`,
    renderCells(p99Of),
  ].join('\n\n');
}

interface Cell {
  readonly service: Engine;
  readonly workload: WorkloadName;
  readonly connections: number;
}

function onPeer(peer: Peer, { service: engine, ...rest }: Cell) {
  return { ...rest, service: `${peer}-${engine}` } as const;
}

function renderCells(valuesOf: (cell: Cell) => readonly string[]): string {
  const rows = PEER_CONNECTIONS.flatMap((connections) =>
    (Object.keys(ENGINES) as Engine[]).map((service) => [
      `${connections}`,
      ENGINES[service],
      ...PEER_WORKLOADS.map((workload) => valuesOf({ service, workload, connections }).join(' / ')),
    ]),
  );
  return table(
    ['>connections', 'engine', ...PEER_WORKLOADS.map((name) => `>${workloads[name].title}`)],
    rows,
  );
}
