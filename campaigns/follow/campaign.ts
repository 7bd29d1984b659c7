import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Tokens } from '../../src/auth/tokens.ts';
import { Secret } from '../../src/secret.ts';
import { createFolder } from '../../testkit/folder.ts';
import { findFreePort } from '../../testkit/free-port.ts';
import { PASSWORD, SECRET } from '../../testkit/service.ts';
import { ServiceProcess, type Variables } from '../../testkit/service-process.ts';
import { query } from '../../testkit/sql.ts';
import type { Campaign, CampaignOptions, Figures, Form } from '../campaign.ts';
import { add } from '../figures.ts';
import { Random } from '../random.ts';
import { Follower, KINDS } from './follower.ts';
import { openStore } from './store.ts';
import { Writers, writeDirectly } from './writers.ts';

export const campaign: Campaign<FollowForm> = {
  summary:
    'SIGKILL of the service and of followers, crashes, failovers and older files of PostgreSQL under writers; the replica of each follower must equal the table',
  recorded: ['kills', 'failovers', 'changes'],
  engines: ['SQLite', 'PostgreSQL'],
  full: { rounds: [80, 40], roundMs: 1_500 },
  short: { rounds: [1, 1], roundMs: 500 },
  run,
};

interface FollowForm extends Form {
  /** How long clients write in a round. */
  readonly roundMs: number;
  /** Makes SQL that breaks the log, to test the campaign. */
  readonly fault?: (dbUrl: string) => string;
}

const WRITERS = 24;
const FOLLOWERS = 8;
/** Every so many rounds, PostgreSQL crashes, and not the service. */
const CRASH_ROUNDS = 5;
/** Every so many rounds, the files of PostgreSQL are copied, and restored a round later. */
const RESTORE_ROUNDS = 4;
/** The time in which the followers must have every change after the last write. */
const CATCH_UP_MS = 120_000;
/** With a fault they never have, which most often is how it is found. */
const CATCH_UP_WITH_FAULT_MS = 5_000;
const START_ATTEMPTS = 10;

async function run(
  { engine, rounds, seed, report }: CampaignOptions,
  { roundMs, fault }: FollowForm,
): Promise<Figures> {
  const random = new Random(seed);
  await using resources = new AsyncDisposableStack();
  const store = await openStore(engine, resources);
  const folder = resources.use(await createFolder()).path;
  const port = await findFreePort();
  const variables = { SECRET_TOKEN: SECRET, AUTH_PASSWORD: PASSWORD, HISTORY: 'on' };
  const start = () => startService(folder, { ...variables, DB_URL: store.dbUrl, PORT: `${port}` });
  let service = await start();
  resources.defer(() => service[Symbol.asyncDispose]());
  const token = new Tokens(new Secret(SECRET), Date.now).issue(86_400);
  const target = { url: `http://127.0.0.1:${port}`, token };
  if (fault) await query(store.url(), fault(store.url()));

  // The command would start a process after each interruption; it has the faults of the client that it uses.
  const kinds = fault ? KINDS.filter((kind) => kind !== 'command') : KINDS;
  const followers = Array.from(
    { length: FOLLOWERS },
    (_, index) => new Follower(kinds[index % kinds.length] ?? 'client', target, join(folder, `${index}`)),
  );
  const following = Promise.all(followers.map((follower) => follower.run()));
  resources.defer(() => Promise.allSettled(followers.map((follower) => follower.end())).then(() => {}));
  const catchUpMs = fault ? CATCH_UP_WITH_FAULT_MS : CATCH_UP_MS;
  const failure = new AbortController();
  following.catch(() => failure.abort());
  const writers = new Writers(target, random);
  const figures: Record<string, number> = {};
  let restore: (() => Promise<void>) | undefined;
  for (let round = 1; round <= rounds; round++) {
    const until = performance.now() + roundMs;
    let isDisturbed = true;
    const isOver = () => failure.signal.aborted || (!isDisturbed && performance.now() > until);
    const writing = Array.from({ length: WRITERS }, () => writers.writeUntil(isOver));
    writing.push(writeDirectly(store.url, random, isOver), interrupt(followers, random, isOver));
    try {
      await sleep(random.next() * roundMs);
      if (store.crash && round % CRASH_ROUNDS === 0) {
        add(figures, await store.crash());
      } else {
        service.signal('SIGKILL');
        await service.ended();
        add(figures, 'kills');
        service = await start();
      }
    } finally {
      isDisturbed = false;
    }
    await Promise.all(writing);
    await writers.expectHistoryAtOnce(store.url());
    await Promise.race([following, expectReplicas(store.url, followers, round, catchUpMs, failure.signal)]);
    for (const follower of followers) follower.expectAll(writers.acknowledged);
    if (restore) {
      service.signal('SIGKILL');
      await service.ended();
      for (const follower of followers) follower.expectLoss();
      await restore();
      restore = undefined;
      service = await start();
      add(figures, 'restored');
    } else if (round % RESTORE_ROUNDS === 1 && store.copy) {
      const acknowledged = new Map(writers.acknowledged);
      const restoreFiles = await store.copy();
      restore = async () => {
        await restoreFiles();
        writers.acknowledged = acknowledged;
      };
    }
    if (round % 10 === 0)
      report(`${round} rounds, ${writers.count} writes, ${followers[0]?.changes} changes`);
  }
  await Promise.all(followers.map((follower) => follower.end()));
  const interruptions = followers.reduce((sum, follower) => sum + follower.interruptions, 0);
  return { ...figures, writes: writers.count, changes: followers[0]?.changes ?? 0, interruptions };
}

/** Starts the service again when its start fails, as on a busy machine PostgreSQL may not accept connections in time. */
async function startService(folder: string, variables: Variables): Promise<ServiceProcess> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await new ServiceProcess(folder, variables).listening();
    } catch (error) {
      if (attempt === START_ATTEMPTS) throw error;
    }
  }
}

async function interrupt(
  followers: readonly Follower[],
  random: Random,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    await sleep(random.next() * 100);
    random.pick(followers)?.interrupt();
  }
}

/** A book; PostgreSQL's driver returns large numbers as text. */
interface Row {
  readonly id: number | string;
  readonly title: string;
  readonly author: string;
  readonly year: number | string;
}

async function expectReplicas(
  url: () => string,
  followers: readonly Follower[],
  round: number,
  catchUpMs: number,
  failure: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + catchUpMs;
  for (const follower of followers) {
    while (!failure.aborted) {
      const table = (await query(url(), 'select id, title, author, year from books order by id').catch(
        () => [],
      )) as unknown as Row[];
      const expected = table.map(({ id, title, author, year }) => [Number(id), title, author, Number(year)]);
      const replica = [...follower.replica.values()].map(
        ({ id, title, author, year }) => [id, title, author, year] as const,
      );
      const actual = replica.toSorted(([one], [other]) => one - other);
      if (expected.length > 0 && JSON.stringify(actual) === JSON.stringify(expected)) break;
      if (performance.now() > deadline)
        assert.deepEqual([round, follower.kind, actual], [round, follower.kind, expected]);
      assert.ok(performance.now() <= deadline, `round ${round}: the table cannot be read`);
      await sleep(200);
    }
  }
}
