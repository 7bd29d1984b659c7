import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFolder } from '../../test/support/folder.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { Chance } from '../chance.ts';
import { newContents } from '../clients.ts';
import type { Call, Ending } from '../journal.ts';
import { assertClean, Life } from '../life.ts';
import { Line } from '../line.ts';
import { SmallDisk } from './disk.ts';

export const campaign: Campaign = {
  summary:
    'the disk is full under 16 writing clients: reads go on, writes are refused, and space is all it takes',
  needs: 'Linux and root',
  rounds: [30],
  engines: ['SQLite'],
  run,
};

/** How many writes are acknowledged before the disk is full, and after there is space again. */
const WRITES = 200;

/** What SQLite has put by lasts for a while; then so many writes in a row are refused. */
const REFUSED_IN_A_ROW = 50;
const TRIES_MAX = 20_000;

/** How long it may take until a write is acknowledged again, after there is space. */
const RECOVERY_MS_MAX = 1_000;

async function run({ rounds, seed, report }: CampaignOptions): Promise<Figures> {
  await using folder = await createFolder();
  await using disk = await SmallDisk.create(folder.path);
  await using life = await Life.begin({ dbUrl: `sqlite:${join(disk.path, 'books.db')}`, seed });
  const chance = new Chance(seed);
  let slowestMs = 0;
  await life.start();
  for (let round = 1; round <= rounds; round++) {
    const verdict = await life.round(async (clients, journal) => {
      using line = new Line(life.target);
      const write = (): Promise<Ending> => {
        const wish = { kind: 'create', sent: newContents(chance) } as const;
        return journal.note(wish, () => line.ask(wish));
      };
      await clients.progress(WRITES);
      disk.fill();
      await untilRefused(write);
      await line.list();
      await disk.free();
      slowestMs = Math.max(slowestMs, await untilAcknowledged(write));
      await clients.progress(WRITES);
      assertServed(journal.calls);
    });
    assertClean(verdict, round);
    if (round % 10 === 0) report(`${round} rounds, ${life.writes.unknown} writes refused`);
  }
  assert.ok(slowestMs <= RECOVERY_MS_MAX, `it took ${slowestMs} ms until a write was acknowledged again`);
  return { 'full disks': rounds, ...life.writes, 'slowest recovery in milliseconds': Math.ceil(slowestMs) };
}

async function untilRefused(write: () => Promise<Ending>): Promise<void> {
  let refused = 0;
  for (let tries = 0; refused < REFUSED_IN_A_ROW; tries++) {
    assert.ok(tries < TRIES_MAX, 'the disk is not full');
    refused = (await write()).is === 'unknown' ? refused + 1 : 0;
  }
}

/** @returns how long it took, in milliseconds */
async function untilAcknowledged(write: () => Promise<Ending>): Promise<number> {
  const started = performance.now();
  while ((await write()).is !== 'done') await sleep(1);
  return performance.now() - started;
}

/** Asserts that every read was answered, and every write, if only with 503. */
function assertServed(calls: readonly Call[]): void {
  for (const { kind, ending } of calls) {
    if (ending.is !== 'unknown') continue;
    assert.equal(ending.reason, 'status 503', kind);
    assert.notEqual(kind, 'find');
  }
}
