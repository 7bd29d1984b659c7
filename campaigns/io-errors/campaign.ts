import assert from 'node:assert/strict';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { createFolder } from '../../testkit/folder.ts';
import { BookClient } from '../book-client.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { newFields } from '../clients.ts';
import { createdId, Journal, type Operation } from '../journal.ts';
import { LINUX, ROOT, TRACING } from '../needs.ts';
import { Random } from '../random.ts';
import { Trial } from '../trial.ts';
import { type Failure, Injection } from './injection.ts';

export const campaign: Campaign = {
  summary:
    'every sync and every write to the file fails in turn, once and permanently, during a fixed sequence of writes; a round is one write of it',
  recorded: ['fsync,fdatasync failed permanently', 'pwrite64 failed permanently'],
  needs: [LINUX, ROOT, TRACING],
  engines: ['SQLite'],
  full: { rounds: [30] },
  short: { rounds: [1] },
  run,
};

const SYNCS = 'fsync,fdatasync';
const CALLS = [SYNCS, 'pwrite64'];

async function run({ rounds: writes, report }: CampaignOptions): Promise<Figures> {
  const figures: Record<string, number> = {};
  for (const calls of CALLS) {
    for (const isPermanent of [false, true]) {
      let failures = 0;
      while (await attempt({ calls, first: failures + 1, isPermanent }, writes)) failures++;
      const name = `${calls} failed ${isPermanent ? 'permanently' : 'once'}`;
      report(`${name}: ${failures} times`);
      figures[name] = failures;
    }
  }
  return figures;
}

/** Runs the writes while calls fail, then checks the store. @returns whether a call failed */
async function attempt(failure: Failure, writes: number): Promise<boolean> {
  await using folder = await createFolder();
  await using trial = await Trial.open({
    dbUrl: `sqlite:${join(folder.path, 'books.db')}`,
    seed: failure.first,
  });
  await trial.start();
  const journal = new Journal();
  const failures = await write(trial, failure, journal, writes);
  const outcomes = journal.calls.map(({ outcome }) => outcome.is);
  await trial.kill();
  await trial.start();
  assert.deepEqual(await trial.judge(journal), [], inspect(failure));
  if (failures > 0 && failure.calls === SYNCS) assertNothingAcknowledged(outcomes, failure);
  return failures > 0;
}

/** Performs the sequence of writes. @returns how many calls failed meanwhile */
async function write(trial: Trial, failure: Failure, journal: Journal, writes: number): Promise<number> {
  await using folder = await createFolder();
  await using injection = await Injection.open(trial.service.pid, failure, join(folder.path, 'trace'));
  using client = new BookClient(trial.target, journal);
  const random = new Random(failure.first);
  const ids: number[] = [];
  for (let index = 0; index < writes && (await client.open()); index++) {
    const operation = operationAt(index, ids, random);
    const id = createdId(operation, await client.perform(operation));
    if (id !== undefined) ids.push(id);
  }
  return injection.failures;
}

/** Creates, updates and deletes in turn. */
function operationAt(index: number, ids: readonly number[], random: Random): Operation {
  const id = ids.at(-1);
  if (id === undefined || index % 3 === 0) return { kind: 'create', sent: newFields(random) };
  if (index % 3 === 1) return { kind: 'update', id, sent: { title: newFields(random).title } };
  return index % 6 === 2 ? { kind: 'delete', id } : { kind: 'update', id, sent: newFields(random) };
}

/**
 * Asserts that the write whose sync failed was not acknowledged, nor any after it: a later sync that succeeds does not
 * cover the pages of the failed one.
 */
function assertNothingAcknowledged(outcomes: readonly string[], failure: Failure): void {
  const first = outcomes.indexOf('unknown');
  assert.ok(first >= 0, `every write was acknowledged: ${inspect(failure)}`);
  assert.ok(!outcomes.includes('done', first), `acknowledged after a failed sync: ${inspect(failure)}`);
}
