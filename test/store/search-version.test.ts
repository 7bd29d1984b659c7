import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { YEAR_MAX } from '../../src/book/book.ts';
import { openSearch } from '../../src/search/open-search.ts';
import type { StoreObserver } from '../../src/store/observer.ts';
import { NO_OBSERVER } from '../../testkit/no-observer.ts';
import { createDatabase, type Database } from '../../testkit/postgres.ts';
import { openStoreAt, type SearchableStore, searchAll, whenIndexed } from '../../testkit/stores.ts';

const QUERY = { sort: 'id', isDescending: false, yearFrom: -YEAR_MAX, yearTo: YEAR_MAX, q: 'iliad' } as const;

/** Changes the index like one with other folding rules, so that a search does not find the book. */
const FOLD_OTHERWISE = `update book_search set words = '  other  ', title_lower = 'other', trigrams = '{}'`;

/** Makes the table of the index incompatible with this version. */
const CHANGE_SCHEMA = 'alter table book_search drop column bytes';

/** Makes the creation of the largest index wait for a lock, as it takes long with many books. */
const HOLD_TRIGRAMS = `
  create function hold_trigrams() returns event_trigger language plpgsql as $$
    begin
      if current_query() like '%book_search_trigrams%' then perform pg_advisory_xact_lock(1); end if;
    end $$;
  create event trigger hold_trigrams on ddl_command_start when tag in ('CREATE INDEX') execute function hold_trigrams();
`;

/** Records what is dropped. */
const NOTE_DROPS = `
  create table public.drops (name text);
  create function note_drops() returns event_trigger language plpgsql as $$
    begin
      insert into public.drops select object_name from pg_event_trigger_dropped_objects();
    end $$;
  create event trigger note_drops on sql_drop execute function note_drops();
`;

// In SQLite each process creates its own index.
describe('The search index in PostgreSQL', () => {
  test('is used if it has the current version', async () => {
    await using database = await createDatabase();
    {
      await using store = await openStoreWithIndex(database);
      await database.query(FOLD_OTHERWISE);
      assert.equal((await searchAll(store, QUERY, 10)).length, 0);
    }
    await using store = await openStoreAt(database.url);
    assert.equal((await searchAll(store, QUERY, 10)).length, 0);
  });

  test('is built by one of several services that first search at the same time', async () => {
    await using database = await createDatabase();
    await using stores = new AsyncDisposableStack();
    const failures: unknown[] = [];
    const observer: StoreObserver = {
      operation: () => () => {},
      pool: () => {},
      part: () => (cause) => cause !== undefined && failures.push(cause),
    };
    const opened = await Promise.all(Array.from({ length: 8 }, () => openStoreAt(database.url, observer)));
    for (const store of opened) stores.use(store);
    const pages = await Promise.all(opened.map((store) => store.search(QUERY, 10)));
    assert.deepEqual(
      pages.map(({ count }) => count),
      opened.map(() => 0),
    );
    assert.deepEqual(failures, []);
  });

  test('is waited for while another service makes its tables, for which no write waits', async () => {
    await using database = await createDatabase();
    await using store = await openStoreAt(database.url);
    await using searches = await openSearch(store.connection, NO_OBSERVER);
    await using other = await lockedAt(database.url, "hashtext('bookkeeping'), hashtext('book_search')");
    await assert.rejects(searches.search(QUERY, 10), { detail: 'The search is being prepared' });
    // On a slow machine, it begins to wait again.
    const search = searches.search(QUERY, 10).catch(() => whenIndexed(() => searches.search(QUERY, 10)));
    while ((await database.query(IS_WAITING)).length === 0) await sleep(5);
    await store.create({ title: 'The Iliad', author: 'Homer', year: -700 });
    await other.query('select pg_advisory_unlock_all()');
    assert.equal((await search).count, 1);
  });

  test('says how far it is also while its indexes are created', async () => {
    await using database = await createDatabase();
    await using store = await openStoreAt(database.url);
    await using searches = await openSearch(store.connection, NO_OBSERVER);
    await store.create({ title: 'The Iliad', author: 'Homer', year: -700 });
    await database.query(HOLD_TRIGRAMS);
    await using client = await lockedAt(database.url, '1');
    const first = searches.search(QUERY, 10).catch(() => {});
    while ((await database.query(IS_WAITING)).length === 0) await sleep(5);
    const isHeld = { detail: 'The search is being prepared (71 %)' };
    await assert.rejects(searches.search(QUERY, 10), isHeld);
    await first;
    await client.query('select pg_advisory_unlock(1)');
    assert.equal((await whenIndexed(() => searchAll(searches, QUERY, 10))).length, 1);
  });

  for (const [what, change] of [
    ['the folding', (version: string) => version.replace(/folding \d+/, 'folding 0')],
    ['Unicode', (version: string) => version.replace(/Unicode [\d.]+/, 'Unicode 1.1')],
    ['the schema', (version: string) => version.replace(/schema \d+/, 'schema 1')],
  ] as const) {
    test(`is rebuilt if it has an older version of ${what}`, async () => {
      await using database = await createDatabase();
      await using store = await openStoreWithIndex(database);
      const version = await versionOf(database);
      const other = change(version);
      assert.notEqual(other, version);
      await database.query(FOLD_OTHERWISE);
      if (!other.startsWith(version.split(',')[0] ?? '')) await database.query(CHANGE_SCHEMA);
      await database.query(`comment on table book_search is '${other}'`);
      assert.equal((await searchAll(store, QUERY, 10)).length, 1);
      await store.create({ title: 'The Iliad', author: 'Alexander Pope', year: 1715 });
      assert.equal((await searchAll(store, QUERY, 10)).length, 2);

      await using next = await openStoreAt(database.url);
      assert.equal((await searchAll(next, QUERY, 10)).length, 2);
      await untilIndexed(next, database);
      assert.equal(await versionOf(database), version);
      assert.deepEqual(
        await database.query('select distinct words from book_search where words like $1', ['%other%']),
        [],
      );
      for (const one of [store, next]) assert.equal((await searchAll(one, QUERY, 10)).length, 2);
    });
  }
});

describe('The queue of a version before 0.3', () => {
  for (const [what, version, isKept] of [
    ['is dropped with its index', 'schema 4, folding 1, Unicode 15.0', false],
    ['is another table if the index is that of this version', undefined, true],
  ] as const) {
    test(what, async () => {
      await using database = await createDatabase();
      await (await openStoreWithIndex(database))[Symbol.asyncDispose]();
      await database.query(
        'create table book_changes (note bigint); drop trigger book_search_insert on books',
      );
      if (version) await database.query(`comment on table book_search is '${version}'`);
      await using store = await openStoreAt(database.url);
      await untilIndexed(store, database);
      assert.equal((await searchAll(store, QUERY, 10)).length, 1);
      const [table] = await database.query('select to_regclass(\'book_changes\') is not null as "isKept"');
      assert.deepEqual(table, { isKept });
    });
  }
});

describe('The triggers of the search index in PostgreSQL', () => {
  /** What other programs do while no service runs. */
  const INTERFERENCES: Readonly<Record<string, string>> = {
    'a trigger is dropped': 'drop trigger book_search_insert on books',
    'a trigger is disabled': 'alter table books disable trigger book_search_insert',
    'a trigger fires only in replicas': 'alter table books enable replica trigger book_search_insert',
    'the function is dropped': 'drop function note_book_changes cascade',
    'the queue is dropped': 'drop table book_search_queue',
    'the table of books is restored alone': `create table saved (like books including all);
        insert into saved select * from books;
        drop table books;
        alter table saved rename to books`,
  };
  for (const [name, interference] of Object.entries(INTERFERENCES)) {
    test(`are put right by the next start when ${name}, and searches find books from before and after`, async () => {
      await using database = await createDatabase();
      await (await openStoreWithIndex(database))[Symbol.asyncDispose]();
      await database.query(interference);
      const insert = "insert into books (id, title, author, year) values ($1, 'The Iliad', 'Homer', -750)";
      if (name !== 'the queue is dropped') await database.query(insert, [1_000]);
      await using store = await openStoreAt(database.url);
      const count = name === 'the queue is dropped' ? 1 : 2;
      assert.equal((await searchAll(store, QUERY, 10)).length, count);
      await database.query(insert, [2_000]);
      await store.create({ title: 'The Iliad', author: 'Alexander Pope', year: 1715 });
      assert.equal((await searchAll(store, QUERY, 10)).length, count + 2);
    });
  }

  test('that always fire remain so, and the index is not rebuilt', async () => {
    await using database = await createDatabase();
    await (await openStoreWithIndex(database))[Symbol.asyncDispose]();
    await database.query('alter table books enable always trigger book_search_insert');
    await database.query(FOLD_OTHERWISE);
    await using store = await openStoreAt(database.url);
    assert.equal((await searchAll(store, QUERY, 10)).length, 0);
    await database.query(
      `set session_replication_role = replica; insert into books (id, title, author, year) values (9, 'The Iliad', 'Homer', -750)`,
    );
    assert.equal((await searchAll(store, QUERY, 10)).length, 1);
  });
});

describe('What is not an index of this version', () => {
  for (const [what, change] of [
    ['an index of a newer version', "comment on table book_search is 'schema 99, folding 99, Unicode 99.0'"],
    ['a table of another program', 'comment on table book_search is null'],
    [
      'a function of another program',
      `drop function note_book_changes cascade;
       create function note_book_changes() returns integer language sql as 'select 1'`,
    ],
  ] as const) {
    test(`${what}, is left alone; searches say that they need the index`, async () => {
      await using database = await createDatabase();
      await using store = await openStoreWithIndex(database);
      await database.query(`${CHANGE_SCHEMA}; ${change}`);
      await using next = await openStoreAt(database.url);
      for (const one of [store, next, store, next])
        await assert.rejects(one.search(QUERY, 10), {
          name: 'StoreUnavailable',
          detail: 'The search index cannot be used: the log of the service says why',
        });
      await next.create({ title: 'The Iliad', author: 'Alexander Pope', year: 1715 });
      const columns = `select 1 from pg_attribute where attrelid = 'book_search'::regclass and attname = 'bytes'`;
      assert.equal((await database.query(columns)).length, 0);
    });
  }
});

test('A table book_search_positions of another program, in a store with an older index, is left alone; searches say that they need the index', async () => {
  await using database = await createDatabase();
  await (await openStoreWithIndex(database))[Symbol.asyncDispose]();
  const older = (await versionOf(database)).replace(/schema \d+/, 'schema 8');
  await database.query(
    `drop table book_search_positions; create table book_search_positions (place text);
     insert into book_search_positions values ('shelf 1'); comment on table book_search is '${older}'`,
  );
  {
    await using store = await openStoreAt(database.url);
    for (let attempt = 0; attempt < 2; attempt++)
      await assert.rejects(store.search(QUERY, 10), {
        name: 'StoreUnavailable',
        detail: 'The search index cannot be used: the log of the service says why',
      });
  }
  assert.deepEqual(await database.query('select place from book_search_positions'), [{ place: 'shelf 1' }]);
  await database.query('drop table book_search_positions');
  await using store = await openStoreAt(database.url);
  assert.equal((await searchAll(store, QUERY, 10)).length, 1);
});

describe('The indexes of the search index', () => {
  test('are created after a vacuum that has failed, and the failure is reported', async () => {
    await using database = await createDatabase();
    await (await openStoreWithIndex(database))[Symbol.asyncDispose]();
    await database.query(
      `drop index book_search_trigrams;
       insert into books (title, author, year) select 'Odyssey ' || i, 'Homer', i from generate_series(1, 3000) as i`,
    );
    const other = new Client(database.url);
    await other.connect();
    await other.query('begin; lock table book_search in share update exclusive mode');
    const failures: unknown[] = [];
    const part = (name: string) => (cause: unknown) =>
      void (name === 'search index' && cause !== undefined && failures.push(cause));
    await using store = await openStoreAt(database.url, { ...NO_OBSERVER, part });
    const cancel = `
      select pg_cancel_backend(pid) from pg_stat_activity
      where datname = current_database() and query like 'vacuum%' and wait_event_type = 'Lock'`;
    while ((await database.query(cancel)).length === 0) await sleep(5);
    while (failures.length === 0) await sleep(5);
    await other.end();
    await untilIndexed(store, database);
    assert.equal((await searchAll(store, { ...QUERY, q: 'odyssey 3000' }, 10)).length, 1);
    assert.deepEqual(failures, ['57014']);
  });

  test('are created at the next start if a stop interrupts that', async () => {
    await using database = await createDatabase();
    {
      await using store = await openStoreWithIndex(database);
      assert.equal(await store.delete(1), true);
    }
    await database.query('drop index book_search_trigrams');
    const other = new Client(database.url);
    await other.connect();
    await other.query('begin; lock table book_search in row exclusive mode');
    {
      await using store = await openStoreAt(database.url);
      await store.create({ title: 'The Iliad', author: 'Alexander Pope', year: 1715 });
    }
    await other.end();
    await using store = await openStoreAt(database.url);
    assert.equal((await searchAll(store, QUERY, 10)).length, 1);
  });

  test('are dropped while many changes are applied, which takes several times as long with them', async () => {
    await using database = await createDatabase();
    await using store = await openStoreWithIndex(database);
    await database.query(NOTE_DROPS);
    await database.query(
      `insert into books (title, author, year) select 'Odyssey ' || i, 'Homer', i from generate_series(1, 25000) as i`,
    );
    assert.equal((await searchAll(store, { ...QUERY, q: 'odyssey 25000' }, 10)).length, 1);
    const dropped = (await database.query<{ name: string }>('select name from drops')).map(
      ({ name }) => name,
    );
    assert.ok(dropped.includes('book_search_title'), dropped.join());
    const isThere = "select to_regclass('book_search_title') is not null as is";
    assert.deepEqual(await database.query(isThere), [{ is: true }]);
  });

  test('are left to a newer version of the service, however many changes it has to apply', async () => {
    await using database = await createDatabase();
    const { promise: failed, resolve } = Promise.withResolvers<unknown>();
    const part = (name: string) => (cause: unknown) =>
      void (name === 'search index' && cause !== undefined && resolve(cause));
    await using store = await openStoreAt(database.url, { ...NO_OBSERVER, part });
    assert.equal((await searchAll(store, QUERY, 10)).length, 0);
    await database.query(
      `comment on table book_search is 'schema 99, folding 99, Unicode 99.0';
       insert into books (title, author, year) select 'Odyssey ' || i, 'Homer', i from generate_series(1, 25000) as i`,
    );
    assert.equal(await failed, 'another version of the service has built the search index');
    const isThere = `select to_regclass('book_search_title') is not null and exists (select from book_search_positions) as is`;
    assert.deepEqual(await database.query(isThere), [{ is: true }]);
  });
});

const IS_WAITING = `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`;

/** A session that has an advisory lock. */
async function lockedAt(url: string, key: string): Promise<Pick<Client, 'query'> & AsyncDisposable> {
  const client = new Client(url);
  await client.connect();
  await client.query(`select pg_advisory_lock(${key})`);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

async function openStoreWithIndex(database: Database): Promise<SearchableStore> {
  const store = await openStoreAt(database.url);
  await store.create({ title: 'The Iliad', author: 'Homer', year: -750 });
  await untilIndexed(store, database);
  return store;
}

/** Searches until the index is up to date. */
async function untilIndexed(store: SearchableStore, database: Database): Promise<void> {
  for (let attempt = 0; attempt < 1_000; attempt++) {
    await store.search(QUERY, 10);
    const [state] = await database.query<{ isBehind: boolean }>(
      `select exists (select 1 from book_search_queue) or to_regclass('book_search_trigrams') is null as "isBehind"`,
    );
    if (state?.isBehind === false) return;
    await sleep(10);
  }
  assert.fail('the index is not updated');
}

async function versionOf(database: Database): Promise<string> {
  const [table] = await database.query<{ version: string }>(
    `select obj_description('book_search'::regclass, 'pg_class') as version`,
  );
  return table?.version ?? assert.fail('no version');
}

describe('Searches of a partitioned table in PostgreSQL', () => {
  test('see what other programs write straight into its partitions, also into one that was attached before the start', async () => {
    await using database = await createDatabase();
    await database.query(`
      create table books (id bigserial primary key, title text, author text, year bigint) partition by range (id);
      create table first_books partition of books for values from (minvalue) to (1000);
      create table other_books partition of books for values from (1000) to (maxvalue) partition by range (id);
      create table "Other's books" partition of other_books for values from (1000) to (2000)`);
    const insert = (table: string, id: number) =>
      database.query(
        `insert into ${table} (id, title, author, year) values (${id}, 'The Iliad', 'Homer', -750)`,
      );
    {
      await using store = await openStoreWithIndex(database);
      await insert('first_books', 500);
      assert.equal((await searchAll(store, QUERY, 10)).length, 2);
      await insert('"Other\'s books"', 1_500);
      await insert('other_books', 1_501);
      await insert('books', 1_502);
      assert.equal((await searchAll(store, QUERY, 10)).length, 5);
      await database.query('delete from first_books');
      assert.equal((await searchAll(store, QUERY, 10)).length, 3);
      await database.query('truncate "Other\'s books"');
      assert.equal((await searchAll(store, QUERY, 10)).length, 0);
    }
    await database.query('create table last_books partition of other_books for values from (2000) to (3000)');
    await using store = await openStoreAt(database.url);
    assert.equal((await searchAll(store, QUERY, 10)).length, 0);
    await insert('last_books', 2_500);
    assert.equal((await searchAll(store, QUERY, 10)).length, 1);
    await untilIndexed(store, database);
    assert.equal((await searchAll(store, QUERY, 10)).length, 1);
  });
});
