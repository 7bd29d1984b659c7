import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Client, type QueryConfig } from 'pg';
import { ThreadClient } from '../../src/store/sqlite/threads/thread-client.ts';
import { createFolder } from '../../testkit/folder.ts';
import { createDatabase } from '../../testkit/postgres.ts';
import { query } from '../../testkit/sql.ts';
import { listBooks, openStoreAt } from '../../testkit/stores.ts';

/** A call alone, and those that arrive while it runs and share a batch. */
const CALLS = 6;
const FAULT = new TypeError('a planted fault after the commit');
const fields = { title: 'Dune', author: 'Frank Herbert', year: 1965 };

describe('A fault after the commit of a batch rejects its calls, and none is tried again', () => {
  test('on PostgreSQL: creates, also with keys, updates and deletes', async () => {
    await using database = await createDatabase();
    await using store = await openStoreAt(database.url);
    const books = await Promise.all(Array.from({ length: CALLS }, () => store.create(fields)));
    await database.query('create table runs (kind text)');
    await database.query(`create function note_run() returns trigger language plpgsql as
      $$ begin insert into runs values (tg_op); return null; end $$`);
    await database.query(`create trigger note_run after insert or update or delete on books
      for each row execute function note_run()`);
    const kinds: Record<string, (index: number) => Promise<unknown>> = {
      create: () => store.create(fields),
      'create once': (index) => store.createOnce(fields, `key ${index}`),
      update: (index) => store.update(books[index]?.id ?? 0, { year: index }),
      'update expected': (index) =>
        store.updateExpected({ ...fields, id: books[index]?.id ?? 0, year: index }, { title: 'Emma' }),
      'delete expected': (index) =>
        store.deleteExpected({ ...fields, id: books[index]?.id ?? 0, year: index, title: 'Emma' }),
    };
    for (const [name, call] of Object.entries(kinds)) {
      await database.query('delete from runs');
      assert.equal(await rejectedOf(name, call), CALLS, name);
      const [row] = await database.query<{ count: string }>('select count(*) from runs');
      assert.equal(Number(row?.count), CALLS, name);
    }
    const rest = await listBooks(store);
    assert.equal(rest.length, 2 * CALLS);
    assert.equal(await rejectedOf('delete', (index) => store.delete(rest[index]?.id ?? 0)), CALLS);
    assert.equal((await listBooks(store)).length, CALLS);
  });

  test('on SQLite', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'books.db');
    {
      await using store = await openStoreAt(`sqlite:${path}`);
      const send = Reflect.get(ThreadClient.prototype, 'send') as (...args: unknown[]) => Promise<unknown>;
      const sendAndFail = async function (this: object, ...args: unknown[]) {
        await send.apply(this, args);
        throw FAULT;
      };
      Object.assign(ThreadClient.prototype, { send: sendAndFail });
      const calls = await Promise.allSettled(Array.from({ length: CALLS }, () => store.create(fields)));
      Object.assign(ThreadClient.prototype, { send });
      for (const call of calls) assert.deepEqual(call, { status: 'rejected', reason: FAULT });
    }
    const [row] = await query(`sqlite:${path}`, 'select count(*) as count from books');
    assert.equal(row?.count, CALLS);
  });
});

/** Lets the driver fail after each statement of a name has been committed. @returns how many calls reject with this fault */
async function rejectedOf(name: string, call: (index: number) => Promise<unknown>): Promise<number> {
  const send = Reflect.get(Client.prototype, 'query') as (...args: unknown[]) => Promise<unknown>;
  const sendAndFail = async function (this: Client, ...args: unknown[]) {
    const result = await send.apply(this, args);
    const statement = (args[0] as QueryConfig).name ?? '';
    if (statement.startsWith(`${name} `)) throw FAULT;
    return result;
  };
  Object.assign(Client.prototype, { query: sendAndFail });
  try {
    const outcomes = await Promise.allSettled(Array.from({ length: CALLS }, (_, index) => call(index)));
    return outcomes.filter((outcome) => outcome.status === 'rejected' && outcome.reason === FAULT).length;
  } finally {
    Object.assign(Client.prototype, { query: send });
  }
}
