import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { readPeakMemoryBytes } from '../../bench/services/usage.ts';
import { parseStoreAddress } from '../../src/store/address.ts';
import { loadEngine } from '../../src/store/load-engine.ts';
import { startCommand } from '../../testkit/command.ts';
import { createFolder } from '../../testkit/folder.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { Random } from '../random.ts';
import { createAddress } from '../service.ts';

export const campaign: Campaign = {
  summary:
    'a million rows are imported completely, then again, and in every further round with a kill during the import',
  needs: 'Linux',
  rounds: [5, 3],
  engines: ['SQLite', 'PostgreSQL'],
  run: (options) => runImports(options, 1_000_000),
};

/** The limit of memory. PostgreSQL's driver makes strings of batches, which are collected later. */
const MEMORY_BYTES_MAX = { SQLite: 200_000_000, PostgreSQL: 250_000_000 };

/** The result of an import. */
interface Ending {
  readonly code: number | null;
  readonly seconds: number;
  readonly peakBytes: number;
  readonly output: string;
}

/** Runs the campaign with a file of this many rows. */
export async function runImports(
  { engine, rounds, seed, report }: CampaignOptions,
  rows: number,
): Promise<Figures> {
  const random = new Random(seed);
  await using folder = await createFolder();
  await writeRows(join(folder.path, 'rows.csv'), rows);
  const load = (dbUrl: string, ...options: string[]) =>
    startCommand(['import', 'rows.csv', ...options], { folder: folder.path, variables: { DB_URL: dbUrl } });

  await using address = await createAddress(engine);
  const whole = await ended(load(address.dbUrl));
  assert.equal(whole.code, 0);
  await assertEveryRowOnce(address.dbUrl, rows);
  const again = await ended(load(address.dbUrl, '--skip-existing'));
  assert.match(again.output, new RegExp(`^read ${rows}, stored 0, skipped ${rows}, bad 0, `));
  for (const { peakBytes } of [whole, again])
    assert.ok(peakBytes < MEMORY_BYTES_MAX[engine], `${peakBytes} bytes`);
  report(`imported, then again: ${whole.output.trim()}; ${again.output.trim()}`);

  for (let round = 1; round <= rounds; round++) {
    await using other = await createAddress(engine);
    const killed = load(other.dbUrl, '--skip-existing');
    const killing = sleep(random.next() * whole.seconds * 1_000).then(() => killed.kill('SIGKILL'));
    await ended(killed);
    await killing;
    const { code, output } = await ended(load(other.dbUrl, '--skip-existing'));
    assert.equal(code, 0);
    await assertEveryRowOnce(other.dbUrl, rows);
    report(`killed, then run again: ${output.trim()}`);
  }
  return {
    rows,
    'seconds, first import': whole.seconds.toFixed(1),
    'seconds, import of existing books': again.seconds.toFixed(1),
    'peak memory in MB, first import': Math.round(whole.peakBytes / 1e6),
    'peak memory in MB, import of existing books': Math.round(again.peakBytes / 1e6),
    kills: rounds,
  };
}

/** Writes a file of distinct books; the year is the number of the row. */
async function writeRows(path: string, rows: number): Promise<void> {
  function* lines() {
    yield 'title,author,year\n';
    for (let row = 0; row < rows; row++) {
      yield `"The book of a river in winter, part ${row}",Author ${row % 9_999} of many,${row}\n`;
    }
  }
  await pipeline(Readable.from(lines()), createWriteStream(path));
}

async function ended(importing: ChildProcess): Promise<Ending> {
  const started = performance.now();
  const output = text(importing.stdout as NodeJS.ReadableStream);
  importing.stderr?.resume();
  let peakBytes = 0;
  while (importing.exitCode === null && importing.signalCode === null) {
    peakBytes = Math.max(peakBytes, peakOf(importing));
    await sleep(20);
  }
  const seconds = (performance.now() - started) / 1_000;
  return { code: importing.exitCode, seconds, peakBytes, output: await output };
}

/** The peak memory of a process; 0 when it has just exited. */
function peakOf({ pid = 0 }: ChildProcess): number {
  try {
    return readPeakMemoryBytes(pid) || 0;
  } catch {
    return 0;
  }
}

async function assertEveryRowOnce(dbUrl: string, rows: number): Promise<void> {
  await using archive = await (await loadEngine(parseStoreAddress(dbUrl))).openArchive();
  const times = new Uint8Array(rows);
  for await (const page of archive.pages()) {
    const books = JSON.parse(`[${Buffer.from(page).toString()}]`) as { year: number }[];
    for (const { year } of books) times[year] = (times[year] ?? 0) + 1;
  }
  assert.equal(
    times.findIndex((count) => count !== 1),
    -1,
  );
}
