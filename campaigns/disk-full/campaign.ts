import assert from 'node:assert/strict';
import { closeSync, openSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createFolder } from '../../testkit/folder.ts';
import { BookClient } from '../book-client.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { newFields } from '../clients.ts';
import type { Call, Outcome } from '../journal.ts';
import { Mount } from '../mount.ts';
import { LINUX, MOUNTS, ROOT } from '../needs.ts';
import { Random } from '../random.ts';
import { Trial } from '../trial.ts';

export const campaign: Campaign = {
  summary:
    'the disk is full under 16 writing clients: reads succeed, writes get 503, and succeed again once there is space',
  recorded: ['full disks', 'acknowledged'],
  needs: [LINUX, ROOT, MOUNTS],
  engines: ['SQLite'],
  // Each leaves about 2 MB of books, history and index on the disk.
  full: { rounds: [30] },
  short: { rounds: [2] },
  run,
};

/** How many writes are acknowledged before the disk is full, and after there is space again. */
const WRITES = 200;

/** SQLite uses its preallocated space first; then this many consecutive writes are rejected. */
const CONSECUTIVE_REJECTIONS = 50;
const TRIES_MAX = 20_000;

/** The most writes that are rejected after there is space again, one after the other, before one is acknowledged. */
const LATE_REJECTIONS_MAX = 1;

async function run({ rounds, seed, report }: CampaignOptions): Promise<Figures> {
  await using folder = await createFolder();
  const path = join(folder.path, 'disk');
  await using disk = await Mount.create(path, '-t', 'tmpfs', '-o', 'size=256m', 'tmpfs');
  const ballast = join(disk.path, 'ballast');
  await using trial = await Trial.open({ dbUrl: `sqlite:${join(disk.path, 'books.db')}`, seed });
  const random = new Random(seed);
  let slowestMs = 0;
  await trial.start();
  for (let round = 1; round <= rounds; round++) {
    const violations = await trial.round(async (clients, journal) => {
      using client = new BookClient(trial.target, journal);
      const write = () => client.perform({ kind: 'create', sent: newFields(random) });
      await clients.progress(WRITES);
      fill(ballast);
      await untilRejected(write);
      await client.list('', 0);
      await rm(ballast);
      slowestMs = Math.max(slowestMs, await untilAcknowledged(write));
      await clients.progress(WRITES);
      assertServed(journal.calls);
    });
    assert.deepEqual(violations, [], `round ${round}`);
    if (round % 10 === 0) report(`${round} rounds, ${trial.writes.unknown} writes rejected`);
  }
  return { 'full disks': rounds, ...trial.writes, 'slowest recovery in milliseconds': Math.ceil(slowestMs) };
}

/** Writes a file until the disk is full. */
function fill(path: string): void {
  const file = openSync(path, 'a');
  const block = Buffer.alloc(4_096);
  try {
    for (;;) writeSync(file, block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}

async function untilRejected(write: () => Promise<Outcome>): Promise<void> {
  let rejected = 0;
  for (let tries = 0; rejected < CONSECUTIVE_REJECTIONS; tries++) {
    assert.ok(tries < TRIES_MAX, 'the disk is not full');
    rejected = (await write()).is === 'unknown' ? rejected + 1 : 0;
  }
}

/** @returns how long it took, in milliseconds */
async function untilAcknowledged(write: () => Promise<Outcome>): Promise<number> {
  const started = performance.now();
  let rejections = 0;
  while ((await write()).is !== 'done')
    assert.ok(++rejections <= LATE_REJECTIONS_MAX, 'writes are rejected though there is space again');
  return performance.now() - started;
}

/** Asserts that every read succeeded, and that every write got a response, 503 at worst. */
function assertServed(calls: readonly Call[]): void {
  for (const { kind, outcome } of calls) {
    if (outcome.is !== 'unknown') continue;
    assert.equal(outcome.reason, 'status 503', kind);
    assert.notEqual(kind, 'find');
  }
}
