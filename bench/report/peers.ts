import { CONNECTIONS } from '../options.ts';
import type { Results } from '../results.ts';
import { ENGINES, type Engine, PEERS, type Peer } from '../services/service.ts';
import { WORKLOAD_NAMES, type WorkloadName, workloads } from '../workloads.ts';
import { decimal, table } from './markdown.ts';
import { onPeer } from './targets.ts';

/** Compares the service with its peers: the first tables of the report. */
export function renderPeers(results: Results): string {
  return [
    'The rate of the service as a ratio to those of the same API on Elysia and Bun, and in plain Go, on SQLite and on PostgreSQL. Above 1, the service is faster. The README has this table.',
    renderRanges(results),
    `Each ratio: ${Object.values(PEERS).join(' / ')}.`,
    renderRatios(results),
    [
      '- GET /books is the list of 10,000 books. The service reads it once for all clients that request it at the same time, and the peers once for each.',
      '- A page is 100 books from a random id on (`GET /books?from=…&limit=100`). The peers read each with a statement (`where id >= … order by id limit 100`), the service those of a batch with one.',
      '- A search is for the title of a random book (`GET /books?title=…&limit=100`). The peers compare all books (`like`, on PostgreSQL `ilike`). The service uses its index, which the other workloads are measured without: with it, writes cost more.',
      '- GET one on SQLite at 32 connections depends on the machine: an earlier version of the service had 0.71 of the rate of Elysia on an Intel Xeon, and 1.53 on an AMD EPYC. On another EPYC, with a ratio of 0.9 to 1.1, the service took 11 to 12 µs for a request outside the kernel and 6 to 8 in it, with 2.3 system calls, and woke the client for one request in 15 (if each has a processor of its own), as it writes the responses of a batch one after the other. Bun took 8 to 9 µs and 9 to 11, with 4.1 system calls, and woke the client for every second request. This may be the difference: where system calls and waking another processor cost more, the service gains. The Intel machine was not there to count on.',
      '- The peers (`bench/peers`) have the same durability, prepared statements and number of connections to PostgreSQL, but no log, limits, history or metrics. They pass all rules of the specification in the conformance kit (`npm run conformance -- --only specification`).',
    ].join('\n'),
  ].join('\n\n');
}

const PEER_NAMES = Object.keys(PEERS) as Peer[];
const ENGINE_NAMES = Object.keys(ENGINES) as Engine[];

/** The columns of the table that README.md has as well. */
const RANGES: Readonly<Record<string, readonly WorkloadName[]>> = {
  'one book': ['get'],
  'a page': ['page'],
  'a search': ['search'],
  writes: ['post', 'put', 'delete'],
  'the same list for all': ['list'],
};

/** The lowest and the highest ratio of both engines and peers. */
function renderRanges(results: Results): string {
  const range = (connections: number, names: readonly WorkloadName[]) => {
    const ratios = names.flatMap((workload) =>
      ENGINE_NAMES.flatMap((service) =>
        PEER_NAMES.flatMap((peer) => {
          const series = { service, workload, connections };
          return results.ratio(series, onPeer(peer, series), 'requestsPerSecond') ?? [];
        }),
      ),
    );
    const [low, high] = [Math.min(...ratios), Math.max(...ratios)].map((ratio) =>
      decimal(ratio, ratio < 10 ? 1 : 0),
    );
    return low === high ? `${low}` : `${low} to ${high}`;
  };
  return table(
    ['>clients', ...Object.keys(RANGES).map((name) => `>${name}`)],
    CONNECTIONS.map((connections) => [
      `${connections}`,
      ...Object.values(RANGES).map((names) => range(connections, names)),
    ]),
  );
}

/** The ratios to each peer. */
function renderRatios(results: Results): string {
  const ratios = (service: Engine, workload: WorkloadName, connections: number) =>
    PEER_NAMES.map((peer) => {
      const series = { service, workload, connections };
      return decimal(results.ratio(series, onPeer(peer, series), 'requestsPerSecond'), 2);
    });
  const rows = CONNECTIONS.flatMap((connections) =>
    ENGINE_NAMES.map((service) => [
      `${connections}`,
      ENGINES[service],
      ...WORKLOAD_NAMES.map((workload) => ratios(service, workload, connections).join(' / ')),
    ]),
  );
  return table(
    ['>connections', 'engine', ...WORKLOAD_NAMES.map((name) => `>${workloads[name].title}`)],
    rows,
  );
}
