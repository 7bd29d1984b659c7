import { decimal, megabytes, table } from '../markdown.ts';
import { TARGET_CONNECTIONS } from '../options.ts';
import type { Results } from '../results.ts';

import { services } from '../services/service.ts';
import { median } from '../statistics.ts';
import { READS } from './long-list.ts';
import { FSYNC_DELAY_MS, READERS, WRITERS } from './slow-disk.ts';

/** The sections of the report about the extras. */
export function renderExtras(results: Results): string[] {
  return [
    '## Point selects by pgbench',
    renderPgbench(results),
    '## Start',
    'Milliseconds from the start of the process to the first answer, on an existing database of 10,000 books, over 10 starts.',
    renderStarts(results),
    '## Memory',
    'Resident memory in MB: some time after the start, some time after the last measurement, and the most in any.',
    renderMemory(results),
    '## The list of 1,000,000 books',
    `Times are medians of ${READS} reads by one client. Memory is the most above that of the idle process, in MB; "stalled" is a client which stops reading after the first bytes.`,
    renderLongLists(results),
    `What others notice: p99 of GET one at ${TARGET_CONNECTIONS} connections in milliseconds, alone, beside a client that reads one list after the other, and beside one that stalls. The reader is a process on the same machine and takes its share of it.`,
    renderOthers(results),
    '## A slow disk',
    `What ${READERS} clients that read single books notice of ${WRITERS} that write, when every fsync takes ${FSYNC_DELAY_MS} ms longer, on SQLite.`,
    renderSlowDisk(results),
  ];
}

function renderSlowDisk({ slowDisk }: Results): string {
  if (!slowDisk) return 'Not measured: it takes strace.';
  const { readsPerSecond, readP99Ms, writesPerSecond } = slowDisk;
  return table(
    ['', '>reads a second', '>p99 ms', '>writes a second'],
    [
      ['alone', decimal(readsPerSecond.alone), decimal(readP99Ms.alone, 2), ''],
      [
        'beside those who write',
        decimal(readsPerSecond.besideWriters),
        decimal(readP99Ms.besideWriters, 2),
        decimal(writesPerSecond),
      ],
    ],
  );
}

function renderPgbench({ pgbench }: Results): string {
  const selects = median(pgbench.filter((rate) => rate !== undefined));
  if (selects === undefined) return 'pgbench is not installed.';
  return `${decimal(selects)} a second: \`pgbench -M prepared\` with ${TARGET_CONNECTIONS} clients in two threads, on the table of books.`;
}

function renderStarts({ startsMs }: Results): string {
  return table(
    ['service', '>median', '>quickest', '>slowest'],
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
    ['service', '>first byte ms', '>total ms', '>size MB', '>memory', '>memory, stalled'],
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

function renderOthers({ longLists }: Results): string {
  return table(
    ['service', '>alone', '>beside a reader', '>beside a stalled one'],
    [...longLists].map(([service, { p99Ms, p99Ratio }]) => [
      services[service],
      decimal(p99Ms.nothing, 2),
      `${decimal(p99Ms.reading, 2)} (${decimal(p99Ratio.reading, 1)} ×)`,
      `${decimal(p99Ms.stalled, 2)} (${decimal(p99Ratio.stalled, 1)} ×)`,
    ]),
  );
}
