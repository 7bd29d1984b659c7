import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Client } from 'pg';
import { LOGIN, startService } from '../http/service.ts';
import { type Cluster, createDatabase, type StopMode, startCluster } from '../support/postgres.ts';
import { ask, askEverything, Load, recovery } from './load.ts';

const ALL_REFUSED = [503, 503, 503, 503, 503, 503];

describe('PostgreSQL', () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster[Symbol.asyncDispose]());

  /** A service on a database of its own. The database goes with the server. */
  async function startServiceThere() {
    const { url } = await createDatabase({ server: cluster.url });
    return { url, service: await startService({ dbUrl: url }) };
  }

  for (const mode of ['fast', 'kill'] satisfies StopMode[]) {
    test(`stopped (${mode}): 503 for whatever needs the store, then as before, with nothing lost`, async () => {
      await using service = (await startServiceThere()).service;
      const load = new Load(service);
      await load.progress();
      await cluster.stop(mode);
      assert.deepEqual(await askEverything(service, 1), ALL_REFUSED);
      assert.deepEqual(await askEverything(service, 1), ALL_REFUSED);
      assert.equal((await ask(service, 'POST', '/token', LOGIN)).status, 200);
      assert.equal((await ask(service, 'GET', '/book/x')).status, 404);
      assert.ok(load.refused > 0);

      await cluster.start();
      await recovery(service);
      await load.progress();
      await load.finish();
    });
  }

  test('all connections terminated, again and again: it goes on by itself, with nothing lost', async () => {
    const { url, service } = await startServiceThere();
    await using running = service;
    const load = new Load(running);
    const operator = new Client(url);
    await operator.connect();
    for (let round = 0; round < 10; round++) {
      await load.progress();
      await operator.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      );
    }
    await operator.end();
    await load.progress();
    await load.finish();
  });

  test('frozen: every request is answered all the same, and it goes on when the server does', async () => {
    await using service = (await startServiceThere()).service;
    const load = new Load(service);
    await load.progress();
    await cluster.freeze();
    try {
      assert.deepEqual(await askEverything(service, 1), ALL_REFUSED);
      assert.equal((await ask(service, 'POST', '/token', LOGIN)).status, 200);
    } finally {
      cluster.thaw();
    }
    await recovery(service);
    await load.progress();
    await load.finish();
  });

  test('gone in the middle of a walk past ids that somebody else has used: 503, and the process lives', async () => {
    const { url, service } = await startServiceThere();
    await using running = service;
    const somebody = new Client(url);
    somebody.on('error', () => {});
    await somebody.connect();
    await somebody.query(
      `insert into books (id, title, author, year) select id, '', '', 0 from generate_series(1, 5) as ids (id)`,
    );
    // This keeps everybody from a lock on the table.
    await somebody.query(`begin; insert into books (id, title, author, year) values (99, '', '', 0)`);

    const creation = ask(running, 'POST', '/book', '{}');
    await waiting(url, 'lock table%');
    await cluster.stop('kill');
    assert.equal((await creation).status, 503);
    await cluster.start();
    // A crashed server may leave out some numbers of a sequence, but gives none twice.
    assert.ok((await recovery(running)) > 5);
  });
});

/** Resolves when a statement like this waits for a lock. */
async function waiting(url: string, statement: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  const sql = `select 1 from pg_stat_activity where query like $1 and wait_event_type = 'Lock'`;
  while ((await client.query(sql, [statement])).rowCount === 0);
  await client.end();
}
