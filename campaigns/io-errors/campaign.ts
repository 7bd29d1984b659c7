import assert from 'node:assert/strict';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { createFolder } from '../../test/support/folder.ts';
import { BookClient } from '../book-client.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { newFields } from '../clients.ts';
import { Journal, type Operation } from '../journal.ts';
import { Random } from '../random.ts';
import { Trial } from '../trial.ts';
import { type Failure, Injection } from './injection.ts';

export const campaign: Campaign = {
  summary:
    'every sync and every write to the file fails in turn, once and permanently, during a fixed sequence of writes; a round is one write of it',
  needs: 'Linux, root and strace',
  rounds: [60],
  engines: ['SQLite'],
  run,
};

const SYNCS = 'fsync,fdatasync';
const CALLS = [SYNCS, 'pwrite64'];

async function run({ rounds: writes, report }: CampaignOptions): Promise<Figures> {
  const figures: Record<string, number> = {};
  for (const calls of CALLS) {
    for (const isForGood of [false, true]) {
      let failures = 0;
      while (await attempt({ calls, first: failures + 1, isForGood }, writes)) failures++;
      const name = `${calls} failed ${isForGood ? 'for good' : 'once'}`;
      report(`${name}: ${failures} times`);
      figures[name] = failures;
    }
  }
  return figures;
}

/** Plays the script while calls fail, and judges what is left. @returns whether the script came as far as to fail */
async function attempt(failure: Failure, writes: number): Promise<boolean> {
  await using folder = await createFolder();
  await using trial = await Trial.open({
    dbUrl: `sqlite:${join(folder.path, 'books.db')}`,
    seed: failure.first,
  });
  await trial.start();
  const journal = new Journal();
  const failures = await play(trial, failure, journal, writes);
  const outcomes = journal.calls.map(({ outcome }) => outcome.is);
  await trial.kill();
  await trial.start();
  assert.deepEqual(await trial.judge(journal), [], inspect(failure));
  if (failures > 0 && failure.calls === SYNCS) assertSilent(outcomes, failure);
  return failures > 0;
}

/** Plays the script of writes, one after another. @returns how many calls have failed meanwhile */
async function play(trial: Trial, failure: Failure, journal: Journal, writes: number): Promise<number> {
  await using folder = await createFolder();
  await using injection = await Injection.open(trial.pid, failure, join(folder.path, 'trace'));
  using client = new BookClient(trial.target);
  const random = new Random(failure.first);
  const ids: number[] = [];
  for (let write = 0; write < writes && (await client.open()); write++) {
    const operation = wishAt(write, ids, random);
    const outcome = await journal.record(operation, () => client.perform(operation));
    if (operation.kind === 'create' && outcome.is === 'done' && outcome.data) ids.push(outcome.data.id);
  }
  return injection.failures;
}

/** Creates, changes and deletes by turns. */
function wishAt(write: number, ids: readonly number[], random: Random): Operation {
  const id = ids.at(-1);
  if (id === undefined || write % 3 === 0) return { kind: 'create', sent: newFields(random) };
  if (write % 3 === 1) return { kind: 'update', id, sent: { title: newFields(random).title } };
  return write % 6 === 2 ? { kind: 'delete', id } : { kind: 'update', id, sent: newFields(random) };
}

/**
 * Asserts that a write was not acknowledged, and none after it: when a sync has failed, nobody knows any more what is
 * on the disk, and a sync that succeeds later says nothing about it.
 */
function assertSilent(outcomes: readonly string[], failure: Failure): void {
  const first = outcomes.indexOf('unknown');
  assert.ok(first >= 0, `every write was acknowledged: ${inspect(failure)}`);
  assert.ok(!outcomes.includes('done', first), `acknowledged after a failed sync: ${inspect(failure)}`);
}
