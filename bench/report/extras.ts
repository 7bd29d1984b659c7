import { SHARE } from '../latency.ts';
import { READS } from '../long-list.ts';
import { TARGET_CONNECTIONS } from '../options.ts';
import type { Results } from '../results.ts';
import { services } from '../services/service.ts';
import { median } from '../statistics.ts';
import { workloads } from '../workloads.ts';
import { decimal, megabytes, percent, table } from './markdown.ts';

/** The sections about what is measured once, after the rounds. */
export function renderExtras(results: Results): string[] {
  return [
    '## pgbench',
    renderPgbench(results),
    '## Start',
    'Milliseconds from the start of the process to the first response, on an existing database of 10,000 books, over 10 starts.',
    renderStarts(results),
    '## Memory',
    'Resident memory in MB: 2 s after a start on an existing database of 10,000 books, 2 s after the last measurement, and the peak of all measurements.',
    renderMemory(results),
    '## Latencies under an open load',
    `In milliseconds. Requests are sent when they are due, at ${percent(SHARE)} of the rate at ${TARGET_CONNECTIONS} connections, and the latency counts from when a request was due. The generator is a Node process, which takes more CPU time than wrk; "generator" is how late it was itself.`,
    renderLatencies(results),
    '## The list of 1,000,000 books',
    `Times are medians of ${READS} reads by one client. Memory is the peak above that of the idle process, in MB; a stalled client pauses for 3 s after the first bytes.`,
    renderLongLists(results),
    `Latency of other requests: p99 of GET one at ${TARGET_CONNECTIONS} connections in milliseconds, without a list, during a client that reads one list after another, and during a stalled client. All run on the same machine.`,
    renderLatenciesDuringLists(results),
  ];
}

function renderPgbench({ pgbench }: Results): string {
  const [selects, updates] = [pgbench.get, pgbench.put].map((rates) =>
    median(rates.filter((rate) => rate !== undefined)),
  );
  if (selects === undefined) return 'pgbench is not installed.';
  return `${decimal(selects)} selects/s and ${decimal(updates)} updates/s by id, each a transaction: \`pgbench -M prepared\` with ${TARGET_CONNECTIONS} clients in two threads, on the table of books.`;
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

function renderLatencies({ latencies }: Results): string {
  return table(
    ['workload', 'service', '>requests/s', '>p50', '>p99', '>p99.9', '>longest', '>generator, p99.9'],
    latencies.map(({ workload, service, responses, seconds, ...latency }) => [
      workloads[workload].title,
      services[service],
      decimal(responses / seconds),
      decimal(latency.p50Ms, 2),
      decimal(latency.p99Ms, 2),
      decimal(latency.p999Ms, 2),
      decimal(latency.maxMs, 1),
      decimal(latency.delayP999Ms, 2),
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
