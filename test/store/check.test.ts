import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Client } from 'pg';
import { StoreUnavailable } from '../../src/book/book-store.ts';
import { engines } from '../../testkit/engines.ts';
import { createDatabase } from '../../testkit/postgres.ts';
import { listBooks, openStoreAt } from '../../testkit/stores.ts';

const HOLDER = join(import.meta.dirname, '..', 'faults', 'lock-holder.ts');

describe('check', () => {
  for (const engine of engines) {
    test(`resolves when ${engine.name} is available, and changes nothing`, async () => {
      await using address = await engine.createAddress();
      await using store = await openStoreAt(address.dbUrl);
      await store.check();
      const book = await store.create({ title: '', author: '', year: 0 });
      await Promise.all([store.check(), store.check()]);
      assert.deepEqual(await listBooks(store), [book]);
    });

    test(`rejects on ${engine.name} when the store is closed`, async () => {
      await using address = await engine.createAddress();
      const store = await openStoreAt(address.dbUrl);
      await store[Symbol.asyncDispose]();
      await assert.rejects(store.check());
    });
  }

  test('resolves while a PostgreSQL server is read-only, and rejects after the table was dropped', async () => {
    await using database = await createDatabase();
    await using store = await openStoreAt(database.url);
    const name = new URL(database.url).pathname.slice(1);
    await database.query(`alter database "${name}" set default_transaction_read_only = on`);
    await store.check();
    await database.query('begin read write; drop table books; commit');
    await assert.rejects(store.check(), new StoreUnavailable('42P01'));
  });

  test('does not wait for calls that wait for a lock in PostgreSQL', async () => {
    await using database = await createDatabase();
    await using store = await openStoreAt(database.url);
    const { id } = await store.create({ title: '', author: '', year: 0 });
    const locker = new Client(database.url);
    await locker.connect();
    await locker.query(`begin; update books set year = 1`);
    const update = store.update(id, { year: 2 });
    await store.check();
    await locker.query('commit');
    await locker.end();
    assert.equal((await update)?.year, 2);
  });

  test('does not wait while another process writes to the SQLite file', async () => {
    const [sqlite] = engines;
    assert.ok(sqlite);
    await using address = await sqlite.createAddress();
    await using store = await openStoreAt(address.dbUrl);
    const holder = fork(HOLDER, [address.dbUrl.replace('sqlite:', '')]);
    await once(holder, 'message');
    await store.check();
    holder.send('let go');
    await once(holder, 'exit');
  });
});
