import { decimal, megabytes, table } from '../markdown.ts';
import { TARGET_CONNECTIONS } from '../options.ts';
import type { Results } from '../results.ts';
import { services } from '../services/service.ts';
import { median } from '../statistics.ts';
import { READ_CONNECTIONS } from './costs.ts';
import { READS } from './long-list.ts';
import { FSYNC_DELAY_MS, READERS, WRITERS } from './slow-disk.ts';

/** The sections of the report about the extras. */
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
    'In milliseconds. Requests are sent when they are due, at a share of the peak of the same run, and the latency counts from when a request was due. The generator is a Node process, which takes more CPU time than wrk; "generator" is how late it was itself. Collections and commits are the pauses for garbage and the durable commits (fsync) during the measurement: their number, and an upper bound of the longest.',
    results.latencies,
    '## Costs',
    `CPU time of the service and of PostgreSQL, and the bytes that SQLite writes, for a million requests; the memory of an idle connection; and starts without and with a compile cache. Reads have ${READ_CONNECTIONS} connections. Bytes of PostgreSQL are missing, as Linux may count 1 MiB for a commit that changes one page of its log.`,
    results.costs,
    '## The list of 1,000,000 books',
    `Times are medians of ${READS} reads by one client. Memory is the peak above that of the idle process, in MB; a stalled client pauses for 3 s after the first bytes.`,
    renderLongLists(results),
    `Latency of other requests: p99 of GET one at ${TARGET_CONNECTIONS} connections in milliseconds, without a list, during a client that reads one list after another, and during a stalled client. All run on the same machine.`,
    renderLatencies(results),
    '## A slow disk',
    `${READERS} clients read single books on SQLite, without and with ${WRITERS} clients that write, with ${FSYNC_DELAY_MS} ms added to every fsync.`,
    renderSlowDisk(results),
  ];
}

function renderSlowDisk({ slowDisk }: Results): string {
  if (!slowDisk) return 'Not measured: strace is not installed.';
  const { readsPerSecond, readP99Ms, writesPerSecond } = slowDisk;
  return table(
    ['', '>reads/s', '>p99 ms', '>writes/s'],
    [
      ['without writers', decimal(readsPerSecond.withoutWriters), decimal(readP99Ms.withoutWriters, 2), ''],
      [
        'with writers',
        decimal(readsPerSecond.withWriters),
        decimal(readP99Ms.withWriters, 2),
        decimal(writesPerSecond),
      ],
    ],
  );
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

function renderLatencies({ longLists }: Results): string {
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
