import { CONNECTIONS, READS } from '../long-list.ts';
import { CONNECTIONS as CLIENTS } from '../options.ts';
import type { Results } from '../results.ts';
import { ENGINES, type Engine, KEPT, type Kept, services } from '../services/service.ts';
import { median } from '../statistics.ts';
import { WRITE_WORKLOADS, workloads } from '../workloads.ts';
import { decimal, megabytes, table } from './markdown.ts';

/** The sections about what is measured once, after the rounds. */
export function renderExtras(results: Results): string[] {
  return [
    '## Writes with a history and a search index',
    'Requests/s, and the ratio to those of the same round without both. `HISTORY=off` and `HISTORY=on` choose the history; the first search creates the index, and from then on writes update it.',
    renderWriteCosts(results),
    '## Start',
    'Milliseconds from the start of the process to the first response, with 10,000 books, over 10 starts.',
    renderStarts(results),
    '## Memory',
    'Resident memory in MB: 2 s after a start with 10,000 books, 2 s after the last measurement, and the peak of all measurements.',
    renderMemory(results),
    '## The list of 1,000,000 books',
    `Times are medians of ${READS} reads by one client. Memory is the peak above that of the idle process; a stalled client pauses for 3 s after the first bytes.`,
    renderLongLists(results),
    `p99 of GET one at ${CONNECTIONS} connections in milliseconds, without a list, while a client reads one list after another, and beside a stalled client.`,
    renderLatenciesDuringLists(results),
  ];
}

function renderWriteCosts(results: Results): string {
  const cell =
    (service: Engine, connections: number, kept: Kept) => (workload: (typeof WRITE_WORKLOADS)[number]) => {
      const series = { service, workload, connections, kept };
      const rate = decimal(results.median(series, 'requestsPerSecond'));
      if (kept === 'neither') return rate;
      return `${rate} (${decimal(results.ratio(series, { ...series, kept: 'neither' }, 'requestsPerSecond'), 2)})`;
    };
  const rows = CLIENTS.flatMap((connections) =>
    (Object.keys(ENGINES) as Engine[]).flatMap((engine) =>
      (Object.keys(KEPT) as Kept[]).map((kept) => [
        `${connections}`,
        ENGINES[engine],
        KEPT[kept],
        ...WRITE_WORKLOADS.map(cell(engine, connections, kept)),
      ]),
    ),
  );
  return table(
    [
      '>connections',
      'engine',
      'keeps',
      ...WRITE_WORKLOADS.map((workload) => `>${workloads[workload].title}`),
    ],
    rows,
  );
}

function renderStarts({ startsMs }: Results): string {
  return table(
    ['service', '>median', '>min', '>max'],
    [...startsMs].map(([service, ms]) => [
      services[service],
      decimal(median(ms)),
      decimal(Math.min(...ms)),
      decimal(Math.max(...ms)),
    ]),
  );
}

function renderMemory({ memory }: Results): string {
  return table(
    ['service', '>idle', '>after', '>peak'],
    [...memory].map(([service, { idle, after, peak }]) => [
      services[service],
      megabytes(idle),
      megabytes(after),
      megabytes(peak),
    ]),
  );
}

function renderLongLists({ longLists }: Results): string {
  return table(
    ['service', '>first byte ms', '>total ms', '>size MB', '>memory MB', '>memory MB, stalled'],
    [...longLists].map(([service, result]) => [
      services[service],
      decimal(result.firstByteMs, 1),
      decimal(result.totalMs),
      megabytes(result.bytes),
      megabytes(result.readingBytes),
      megabytes(result.stalledBytes),
    ]),
  );
}

function renderLatenciesDuringLists({ longLists }: Results): string {
  return table(
    ['service', '>no list', '>list being read', '>list stalled'],
    [...longLists].map(([service, { p99Ms, p99Ratio }]) => [
      services[service],
      decimal(p99Ms.none, 2),
      `${decimal(p99Ms.reading, 2)} (${decimal(p99Ratio.reading, 1)} ×)`,
      `${decimal(p99Ms.stalled, 2)} (${decimal(p99Ratio.stalled, 1)} ×)`,
    ]),
  );
}
