import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { Tokens } from '../../src/auth/tokens.ts';
import { type BookClient, createClient } from '../../src/client/index.ts';
import { Secret } from '../../src/config/secret.ts';
import { PASSWORD, SECRET } from '../../test/http/service.ts';
import { ServiceProcess } from '../../test/process/service-process.ts';
import { createFolder } from '../../test/support/folder.ts';
import { findFreePort } from '../../test/support/free-port.ts';
import { type Cluster, startCluster } from '../../test/support/postgres.ts';
import { query } from '../../test/support/sql.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { Random } from '../random.ts';
import { createAddress } from '../service.ts';
import { Follower, KINDS } from './follower.ts';

export const campaign: Campaign = {
  summary:
    'SIGKILL of the service, and of PostgreSQL, under writers and followers, whose replicas must equal the table',
  rounds: [200, 200],
  engines: ['SQLite', 'PostgreSQL'],
  run,
};

const WRITERS = 24;
const FOLLOWERS = 8;
const ROUND_MS = 1_500;
/** Every so many rounds, PostgreSQL is killed, too. */
const CLUSTER_KILL_ROUNDS = 5;
/** The time in which the followers must have every change after the last write. */
const CATCH_UP_MS = 30_000;

/** @param fault SQL that breaks the log, to test the campaign */
export async function run(
  { engine, rounds, seed, report }: CampaignOptions,
  fault?: string,
): Promise<Figures> {
  const random = new Random(seed);
  await using resources = new AsyncDisposableStack();
  const cluster =
    engine === 'PostgreSQL' ? resources.use(await startCluster({ isSynced: false })) : undefined;
  const dbUrl = cluster?.url ?? resources.use(await createAddress(engine)).dbUrl;
  const folder = resources.use(await createFolder()).path;
  const port = await findFreePort();
  const variables = {
    DB_URL: dbUrl,
    SECRET_TOKEN: SECRET,
    AUTH_PASSWORD: PASSWORD,
    HISTORY: 'on',
    PORT: `${port}`,
  };
  const start = () => new ServiceProcess(folder, { ...variables, LOG_LEVEL: 'warn' });
  let service = start();
  resources.defer(() => service[Symbol.asyncDispose]());
  const token = await new Tokens(new Secret(SECRET), Date.now).issue(86_400);
  const target = { url: `http://127.0.0.1:${port}`, token };
  await isReady(target.url);
  if (fault !== undefined) await query(dbUrl, fault);

  const followers = Array.from(
    { length: FOLLOWERS },
    (_, index) => new Follower(KINDS[index % 3] ?? 'client', target),
  );
  const following = Promise.all(followers.map((follower) => follower.run()));
  resources.defer(() => Promise.allSettled(followers.map((follower) => follower.end())).then(() => {}));
  const failure = new AbortController();
  following.catch(() => failure.abort());
  const books = createClient({ ...target, attemptsMax: 1 });
  let writes = 0;
  for (let round = 1; round <= rounds; round++) {
    const until = performance.now() + ROUND_MS;
    const isOver = () => performance.now() > until;
    const writing = Array.from({ length: WRITERS }, async () => {
      while (!isOver()) if (await write(books, random)) writes++;
    });
    writing.push(writeDirectly(dbUrl, random, isOver), interrupt(followers, random, isOver));
    await sleep(random.next() * ROUND_MS);
    service.signal('SIGKILL');
    await service.ended();
    if (cluster && round % CLUSTER_KILL_ROUNDS === 0) await restart(cluster);
    service = start();
    await Promise.all(writing);
    await Promise.race([following, expectReplicas(dbUrl, followers, `round ${round}`, failure.signal)]);
    if (round % 10 === 0) report(`${round} rounds, ${writes} writes, ${followers[0]?.changes} changes`);
  }
  await Promise.all(followers.map((follower) => follower.end()));
  return { kills: rounds, writes, changes: followers[0]?.changes ?? 0, followers: FOLLOWERS };
}

async function isReady(url: string): Promise<void> {
  while (!(await fetch(`${url}/readyz`).catch(() => undefined))?.ok) await sleep(20);
}

async function restart(cluster: Cluster): Promise<void> {
  await cluster.stop('kill');
  await cluster.start();
}

/** Performs one write on one of a few books. @returns whether it was acknowledged */
async function write(books: BookClient, random: Random): Promise<boolean> {
  const id = 1 + random.below(60);
  const year = random.below(3);
  try {
    const kind = random.below(5);
    if (kind === 0) await books.create({ title: 'new', year });
    else if (kind === 1) await books.createMany([{ year }, { year }]);
    else if (kind === 2) await books.update(id, { title: `t${random.below(1_000)}`, year });
    else if (kind === 3) await books.delete(id);
    else await books.restore(id);
    return true;
  } catch {
    await sleep(10);
    return false;
  }
}

/** Another program: on PostgreSQL, with transactions that overlap, of which some are rolled back. */
async function writeDirectly(dbUrl: string, random: Random, isOver: () => boolean): Promise<void> {
  const insert = `insert into books (title, author, year) values ('direct', '', 0)`;
  const update = `update books set year = year + 1 where id % 7 = ${random.below(7)}`;
  if (dbUrl.startsWith('sqlite:')) {
    while (!isOver()) {
      await query(dbUrl, random.below(2) === 0 ? insert : update).catch(() => []);
      await sleep(20);
    }
    return;
  }
  const transact = async () => {
    while (!isOver()) {
      const client = new Client(dbUrl);
      client.on('error', () => {});
      try {
        await client.connect();
        await client.query(`begin; ${insert}`);
        await sleep(random.next() * 60);
        await client.query(random.below(2) === 0 ? insert : update);
        await client.query(random.below(4) === 0 ? 'rollback' : 'commit');
      } catch {
        await sleep(20);
      }
      await client.end().catch(() => {});
    }
  };
  await Promise.all([transact(), transact(), transact()]);
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
  dbUrl: string,
  followers: readonly Follower[],
  round: string,
  failure: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + CATCH_UP_MS;
  for (const follower of followers) {
    while (!failure.aborted) {
      const table = (await query(dbUrl, 'select id, title, author, year from books order by id').catch(
        () => [],
      )) as unknown as Row[];
      const expected = table.map(({ id, title, author, year }) => [Number(id), title, author, Number(year)]);
      const replica = [...follower.replica.values()].map(
        ({ id, title, author, year }) => [id, title, author, year] as const,
      );
      const actual = replica.toSorted(([one], [other]) => one - other);
      if (expected.length > 0 && JSON.stringify(actual) === JSON.stringify(expected)) break;
      if (performance.now() > deadline) assert.deepEqual([round, actual], [round, expected]);
      assert.ok(performance.now() <= deadline, `${round}: the table cannot be read`);
      await sleep(50);
    }
  }
}
