import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreUnavailable } from '../../src/book/book-store.ts';
import { SELECT } from '../../src/store/postgres/batches/finds.ts';
import { INSERT } from '../../src/store/postgres/batches/inserts.ts';
import {
  DELETE,
  DELETE_EXPECTED,
  UPDATE,
  UPDATE_EXPECTED,
} from '../../src/store/postgres/batches/updates.ts';
import { connect } from '../../src/store/postgres/connection/connect.ts';
import { parseConninfo } from '../../src/store/postgres/connection/conninfo.ts';
import { toStoreError } from '../../src/store/postgres/errors.ts';
import { Database } from '../../src/store/postgres/pool/database.ts';
import { ConnectionPool } from '../../src/store/postgres/pool/pool.ts';
import { createDatabase } from '../../testkit/postgres.ts';
import { Relay } from '../../testkit/relay.ts';
import { openStoreAt } from '../../testkit/stores.ts';
import { withPort } from '../../testkit/with-port.ts';

test('A timeout while all connections are in use closes no connection', async () => {
  await using database = await createDatabase();
  await using relay = await Relay.open(Number(new URL(database.url).port));
  const url = `${withPort(database.url, relay.port)}&connect_timeout=3`;
  const { server, client } = await connect(parseConninfo(url));
  await client.end();
  const pool = new ConnectionPool(server, { connectionsMax: 1, statementTimeoutMs: 60_000 });

  await pool.withConnection(async () => {
    await assert.rejects(pool.query('select 1'), (error) => {
      assert.deepEqual(toStoreError(error), new StoreUnavailable('no connection free'));
      return true;
    });
  });
  const { accepted } = relay;
  await pool.query('select 1');
  assert.equal(relay.accepted, accepted);
  await pool.end();
});

test('A statement that violates a constraint keeps its connection; after other errors, there is a new one', async () => {
  await using database = await createDatabase();
  await using relay = await Relay.open(Number(new URL(database.url).port));
  const { server, client } = await connect(parseConninfo(withPort(database.url, relay.port)));
  await client.end();
  const pool = new ConnectionPool(server, { connectionsMax: 1, statementTimeoutMs: 60_000 });
  const fail = (code: string) =>
    assert.rejects(pool.query(`do $$ begin raise using errcode = '${code}'; end $$`), { code });
  await pool.query('select 1');
  const { accepted } = relay;
  for (const code of ['23505', '40001', '40P01']) await fail(code);
  await pool.query('select 1');
  assert.equal(relay.accepted, accepted);
  await assert.rejects(pool.query('begin read only; create table shelves ()'), { code: '25006' });
  await pool.query('select 1');
  assert.equal(relay.accepted, accepted + 1);
  await pool.end();
});

test('Of the connections that are idle for ten seconds, one stays open', async (context) => {
  await using database = await createDatabase();
  const { server, client } = await connect(parseConninfo(database.url));
  await client.end();
  const pool = new ConnectionPool(server, { connectionsMax: 3, statementTimeoutMs: 60_000 });
  context.mock.timers.enable({ apis: ['setTimeout'] });
  await Promise.all([1, 2, 3].map(() => pool.query('select 1')));
  context.mock.timers.tick(9_000);
  assert.deepEqual(pool.state, { idle: 3, used: 0, waiting: 0 });
  context.mock.timers.tick(2_000);
  assert.deepEqual(pool.state, { idle: 1, used: 0, waiting: 0 });
  context.mock.timers.tick(60_000);
  await pool.query('select 1');
  assert.deepEqual(pool.state, { idle: 1, used: 0, waiting: 0 });
  context.mock.timers.reset();
  await pool.end();
});

test('Connections neither compile statements nor plan scans of tables that have an index', async () => {
  await using database = await createDatabase();
  const { server, client } = await connect(parseConninfo(database.url));
  await client.end();
  const pool = new ConnectionPool(server, { connectionsMax: 1, statementTimeoutMs: 60_000 });
  const { rows } = await pool.query(
    `select current_setting('jit') as jit, current_setting('enable_seqscan') as seqscan`,
  );
  assert.deepEqual(rows, [{ jit: 'off', seqscan: 'off' }]);
  await pool.end();
});

test('Statements on some books are planned for the first five executions, as every prepared statement, and not again', async () => {
  await using database = await createDatabase();
  await using _ = await openStoreAt(database.url);
  const { server, client } = await connect(parseConninfo(database.url));
  await client.end();
  const pool = new ConnectionPool(server, { connectionsMax: 1, statementTimeoutMs: 60_000 });
  const books = new Database(pool);
  const texts = ['a', 'b', 'c'];
  const fields = [texts, texts, [1, 2, 3]];
  const statements = [
    [SELECT, []],
    [INSERT, fields],
    [UPDATE, fields],
    [UPDATE_EXPECTED, [...fields, ...fields]],
    [DELETE, []],
    [DELETE_EXPECTED, fields],
  ] as const;
  for (const [statement, columns] of statements) {
    const ids = statement === INSERT ? [] : [[1, 2, 3]];
    for (let count = 0; count < 8; count++) await books.queryBatch(statement, [...ids, ...columns]);
  }
  const { rows } = await pool.query(
    'select name, custom_plans::integer as custom, generic_plans::integer as generic from pg_prepared_statements order by prepare_time',
  );
  assert.deepEqual(
    rows,
    statements.map(([{ name }]) => ({ name: `${name} 0`, custom: 5, generic: 3 })),
  );
  await pool.end();
});
