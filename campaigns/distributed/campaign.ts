import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { rules } from '../../conformance/rules.ts';
import { checkRule } from '../../conformance/run.ts';
import { Service } from '../../conformance/service.ts';
import { findFreePort } from '../../testkit/free-port.ts';
import { PASSWORD, USERNAME } from '../../testkit/service.ts';
import type { Campaign, CampaignOptions, ClusterOptions, Figures, Form } from '../campaign.ts';
import { listBooks } from '../clients.ts';
import { CLUSTER } from '../needs.ts';
import { Creators } from '../retries/creators.ts';
import { Trial } from '../trial.ts';
import { checkAdditions } from './additions.ts';

export const campaign: Campaign<DistributedForm> = {
  summary:
    'the contract and the additions on a Citus cluster, and a worker that stops and returns under 16 clients of two copies, in every round',
  recorded: ['stops of a worker', 'acknowledged'],
  needs: [CLUSTER],
  engines: ['PostgreSQL'],
  full: { rounds: [10], additions: 2_000 },
  short: { rounds: [1], additions: 300 },
  run: runDistributed,
};

/** The minimum of acknowledged writes before the worker stops, and after it has returned. */
const WRITES = 200;

const CREATORS = 8;

/** How long the worker is down. */
const DOWN_MS = 2_000;

interface DistributedForm extends Form {
  /** The number of books that the additions use. */
  readonly additions: number;
}

async function runDistributed(
  { rounds, seed, report, cluster }: CampaignOptions,
  { additions }: DistributedForm,
): Promise<Figures> {
  assert.ok(cluster);
  const { url } = cluster;
  await using trial = await Trial.open({ dbUrl: url, seed });
  await trial.start();
  await distribute(url, async () => {
    await trial.stop();
    await trial.start();
  });
  assert.equal((await listBooks(trial.target)).length, 0, 'the table books has to be empty');

  const figures: Record<string, number> = { rules: 0 };
  await using service = await Service.open({
    url: `http://127.0.0.1:${trial.target.port}`,
    username: USERNAME,
    password: PASSWORD,
    secret: trial.target.secret,
  });
  for (const rule of rules) {
    const result = await checkRule(service, rule);
    // The rules for the history are skipped.
    assert.notEqual(result.outcome, 'fail', `${rule.text}: ${'reason' in result ? result.reason : ''}`);
    if (result.outcome === 'pass') figures.rules = (figures.rules ?? 0) + 1;
  }
  report(`${figures.rules} rules pass`);
  figures['requests of the additions'] = await checkAdditions(service, additions);
  report('the additions work');
  await service.deleteBooks();

  if (cluster.stop !== undefined)
    Object.assign(figures, await stopWorkers(trial, cluster, { rounds, seed, report }));
  // The next run needs an empty table.
  await service.deleteBooks();
  return { ...figures, ...trial.writes };
}

/** Distributes the table of books, unless it is. @param restart restarts the service */
async function distribute(url: string, restart: () => Promise<void>): Promise<void> {
  const client = new Client(url);
  await client.connect();
  try {
    const isDistributed = `select 1 from pg_dist_partition where logicalrelid = to_regclass('books')`;
    if ((await client.query(isDistributed)).rows.length > 0) return;
    await client.query(`select create_distributed_table('books', 'id')`);
  } finally {
    await client.end();
  }
  await restart();
}

/** Stops and starts a worker in every round: under clients of two copies that the checker judges, then under clients that use keys. */
async function stopWorkers(
  trial: Trial,
  cluster: ClusterOptions,
  { rounds, seed, report }: Pick<CampaignOptions, 'rounds' | 'seed' | 'report'>,
): Promise<Record<string, number>> {
  const stopAndStart = async () => {
    await runCommand(cluster.stop);
    await sleep(DOWN_MS);
    await runCommand(cluster.start);
  };
  const second = await findFreePort();
  await trial.start(second);
  const ports = [trial.target.port, second];
  for (let round = 1; round <= rounds; round++) {
    const violations = await trial.round(async (clients) => {
      await clients.progress(WRITES);
      await stopAndStart();
      await clients.progress(WRITES);
    }, ports);
    assert.deepEqual(violations, [], `round ${round}`);
    report(`${round} rounds, ${trial.writes.acknowledged} writes acknowledged`);
  }

  const before = new Set((await listBooks(trial.target)).map(({ id }) => id));
  const ids = new Map<string, number>();
  let retries = 0;
  for (let round = 1; round <= rounds; round++) {
    const creators = new Creators(trial.target, CREATORS, seed + round);
    await creators.progress(WRITES);
    await stopAndStart();
    await creators.progress(WRITES);
    await creators.stop();
    await recover(cluster.url);
    for (const [title, id] of creators.ids) ids.set(title, id);
    retries += creators.retries;
    const books = (await listBooks(trial.target)).filter(({ id }) => !before.has(id));
    assert.equal(books.length, ids.size, `round ${round}: books and keys differ`);
    for (const { id, title } of books) assert.equal(ids.get(title), id, `round ${round}`);
    report(`${round} rounds, ${ids.size} books with keys, ${retries} retries`);
  }
  return { 'stops of a worker': 2 * rounds, 'books with keys': ids.size, retries };
}

/** Completes distributed transactions, as the coordinator does every `citus.recover_2pc_interval`. */
async function recover(url: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  await client.query('select recover_prepared_transactions()');
  await client.end();
}

/** Runs a command of the operator. */
async function runCommand(command = 'true'): Promise<void> {
  const [code] = (await once(spawn(command, { shell: true, stdio: 'ignore' }), 'close')) as [number | null];
  assert.equal(code, 0, command);
}
