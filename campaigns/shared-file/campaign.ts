import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFolder } from '../../test/support/folder.ts';
import { findFreePort } from '../../test/support/free-port.ts';
import { BookClient, type Target } from '../book-client.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { Clients, listBooks, newFields } from '../clients.ts';
import { Journal } from '../journal.ts';
import { startServiceAt, stopCleanly } from '../outage/service.ts';
import { Random } from '../random.ts';
import { Trial } from '../trial.ts';
import { Others } from './others.ts';

export const campaign: Campaign = {
  summary:
    'two services on one SQLite file, which other processes read, write, back up and checkpoint, under 32 clients',
  rounds: [12],
  engines: ['SQLite'],
  run: shareFile,
};

/** How long clients call in a round. */
const ROUND_MS = 10_000;

/** How many clients of each service do everything, and how many work on books that all of them share. */
const CLIENTS = 12;
const SHARING_CLIENTS = 4;
const SHARED_BOOKS = 8;

async function shareFile({ rounds, seed, report }: CampaignOptions): Promise<Figures> {
  await using folder = await createFolder();
  const path = join(folder.path, 'books.db');
  const dbUrl = `sqlite:${path}`;
  await using trial = await Trial.open({ dbUrl, seed });
  const [one, other] = [trial.target, { ...trial.target, port: await findFreePort() }];
  await using service = await startServiceAt(one, folder.path, dbUrl);
  await using neighbour = await startServiceAt(other, folder.path, dbUrl);

  const counts: Record<string, number> = {};
  for (let round = 1; round <= rounds; round++) {
    const { journal, done } = await callAndMeddle([one, other], path, seed * 1_000 + round);
    for (const call of journal.calls) assert.notEqual(call.outcome.is, 'unknown', JSON.stringify(call));
    assert.deepEqual(await listBooks(other), await listBooks(one));
    assert.deepEqual(await trial.judge(journal), []);
    for (const [name, count] of Object.entries({ calls: journal.calls.length, ...done })) {
      counts[name] = (counts[name] ?? 0) + count;
    }
    report(`${round}: ${journal.calls.length} calls`);
  }
  await stopCleanly(service);
  await stopCleanly(neighbour);
  return { ...trial.writes, ...counts };
}

/** Lets clients call both services for a while, and others use the file. @returns the calls, and what others did */
async function callAndMeddle(
  targets: readonly Target[],
  path: string,
  seed: number,
): Promise<{ journal: Journal; done: Others['counts'] }> {
  const journal = new Journal();
  const random = new Random(seed);
  const shared = await createShared(targets, journal, random);
  const others = new Others(path, journal, shared, random);
  const clients = targets.flatMap((target, index) => [
    new Clients({ target, journal, count: CLIENTS, seed: seed * 4 + index }),
    new Clients({
      target,
      journal,
      count: SHARING_CLIENTS,
      seed: seed * 4 + 2 + index,
      shared,
      kinds: ['update', 'find'],
    }),
  ]);
  try {
    await sleep(ROUND_MS);
  } finally {
    await Promise.all([others.stop(), ...clients.map((each) => each.stop())]);
  }
  return { journal, done: others.counts };
}

/** Creates books, by turns through each of the services. @returns their ids */
async function createShared(targets: readonly Target[], journal: Journal, random: Random): Promise<number[]> {
  const ids: number[] = [];
  for (let index = 0; index < SHARED_BOOKS; index++) {
    using client = new BookClient(targets[index % targets.length] as Target);
    const operation = { kind: 'create', sent: newFields(random) } as const;
    const outcome = await journal.record(operation, () => client.perform(operation));
    assert.ok(outcome.is === 'done' && outcome.data);
    ids.push(outcome.data.id);
  }
  return ids;
}
