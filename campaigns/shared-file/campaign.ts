import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFolder } from '../../testkit/folder.ts';
import { findFreePort } from '../../testkit/free-port.ts';
import { BookClient, type Target } from '../book-client.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { listBooks, newFields } from '../clients.ts';
import { add } from '../figures.ts';
import { createdId, Journal } from '../journal.ts';
import { Random } from '../random.ts';
import { Trial } from '../trial.ts';
import { OtherPrograms } from './other-programs.ts';

export const campaign: Campaign = {
  summary:
    'two services on one SQLite file, which other processes read, write, back up and checkpoint, under 32 clients',
  rounds: [12],
  engines: ['SQLite'],
  run: (options) => shareFile(options, 10_000),
};

/** For each service: how many clients send all kinds of requests, and how many use only the shared books. */
const CLIENTS = 12;
const SHARING_CLIENTS = 4;
const SHARED_BOOKS = 8;

/** @param roundMs how long clients send requests in a round */
export async function shareFile(
  { rounds, seed, report }: Pick<CampaignOptions, 'rounds' | 'seed' | 'report'>,
  roundMs: number,
): Promise<Figures> {
  await using folder = await createFolder();
  const path = join(folder.path, 'books.db');
  await using trial = await Trial.open({ dbUrl: `sqlite:${path}`, seed });
  const other = { ...trial.target, port: await findFreePort() };
  await trial.start();
  await trial.start(other.port);

  const counts: Record<string, number> = {};
  for (let round = 1; round <= rounds; round++) {
    const journal = new Journal();
    const programs = await runRound(trial, other, path, journal, new Random(seed * 1_000 + round), roundMs);
    programs.assertBackupsComplete();
    for (const call of journal.calls) assert.notEqual(call.outcome.is, 'unknown', JSON.stringify(call));
    assert.deepEqual(await listBooks(other), await listBooks(trial.target));
    assert.deepEqual(await trial.judge(journal), []);
    const done = { calls: journal.calls.length, ...programs.counts };
    for (const [name, count] of Object.entries(done)) add(counts, name, count);
    report(`${round}: ${journal.calls.length} calls`);
  }
  await trial.stop();
  await trial.stop(other.port);
  return { ...trial.writes, ...counts };
}

/** Runs clients of both services, and other programs on the file. @returns the programs, which have ended */
async function runRound(
  trial: Trial,
  other: Target,
  path: string,
  journal: Journal,
  random: Random,
  roundMs: number,
): Promise<OtherPrograms> {
  const targets = [trial.target, other];
  const shared: number[] = [];
  for (let index = 0; index < SHARED_BOOKS; index++) {
    using client = new BookClient(targets[index % 2] as Target, journal);
    const operation = { kind: 'create', sent: newFields(random) } as const;
    const id = createdId(operation, await client.perform(operation));
    assert.ok(id !== undefined);
    shared.push(id);
  }
  const programs = new OtherPrograms(path, journal, shared, random);
  const groups = targets.flatMap((target) => [
    { target, count: CLIENTS },
    { target, count: SHARING_CLIENTS, shared, kinds: ['update', 'find'] as const },
  ]);
  try {
    await trial.underLoad(() => sleep(roundMs), groups, journal);
  } finally {
    await programs.stop();
  }
  return programs;
}
