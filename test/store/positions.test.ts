import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { Client, type PoolClient, types } from 'pg';
import { YEAR_MAX } from '../../src/book/book.ts';
import type { BookKeys } from '../../src/search/blocks.ts';
import { type SearchQuery, SORT_KEYS } from '../../src/search/book-search.ts';
import { keyColumnOf } from '../../src/search/conditions.ts';
import {
  type BlockRow,
  CLEAR_POSITIONS,
  counting,
  createPositions,
  Positions,
} from '../../src/search/postgres/positions.ts';
import type { Positions as OrderPositions } from '../../src/search/snapshot.ts';
import { POSITIONS_TABLE, Positions as SqlitePositions } from '../../src/search/sqlite/positions.ts';
import { createDatabase } from '../../testkit/postgres.ts';

const BOOKS = 5_000;

describe('The positions of the index in SQLite', () => {
  test('find each book by its number, and count those after it, when books were added and removed', async () => {
    using database = new DatabaseSync(':memory:');
    database.exec(`
      ${POSITIONS_TABLE}
      create table book_search (
        id integer primary key, title_key text not null, author_key text not null, year integer not null
      ) strict`);
    const insert = database.prepare('insert into book_search values (?, ?, ?, ?)');
    const books = new Map<number, BookKeys>();
    const store = (id: number): BookKeys => {
      const book = makeKeys(id);
      insert.run(book.id, book.title_key, book.author_key, book.year);
      books.set(id, book);
      return book;
    };
    const positions = new SqlitePositions(database);
    for (let id = 1; id <= BOOKS; id++) store(2 * id);
    assert.equal(positions.areBegun, false);
    assert.equal(positions.build(-Infinity), false);
    assert.equal(positions.areBegun, false);
    assert.equal(positions.build(Infinity), true);
    assert.equal(positions.areBegun, true);
    positions.flush();
    await assertPositions(positions, books);
    // More than two blocks at the end of the order of ids, and some in between and before all.
    for (let id = 1; id <= BOOKS; id++) positions.add(store(id % 5 === 0 ? 1 - id : 2 * BOOKS + id));
    positions.flush();
    await assertPositions(positions, books);
    const remove = database.prepare('delete from book_search where id = ?');
    for (const [id, book] of [...books].filter((_, index) => index % 3 > 0 || index < 2_500)) {
      remove.run(id);
      books.delete(id);
      positions.remove(book);
    }
    positions.flush();
    await assertPositions(positions, books);
    for (const [id, book] of books) {
      remove.run(id);
      books.delete(id);
      positions.remove(book);
    }
    positions.flush();
    await assertPositions(positions, books);
    positions.add(store(1));
    positions.flush();
    await assertPositions(positions, books);
    positions.clear();
    positions.build(Infinity);
    positions.flush();
    await assertPositions(positions, books);
    // A step has ended before the last order was built, and the next one begins with changes.
    database.exec("delete from positions where sort = 'year'");
    for (let id = 2; id <= 3_000; id++) positions.add(store(id));
    positions.flush();
    assert.equal(positions.build(-Infinity), false);
    assert.equal(positions.build(Infinity), true);
    await assertPositions(positions, books);
  });
});

describe('The positions of the index in PostgreSQL', () => {
  test('find each book by its number, and count those after it, when books were added and removed', async () => {
    await using database = await createDatabase();
    const client = new Client({ connectionString: database.url, types: { getTypeParser } });
    await client.connect();
    const positions = new Positions(client as PoolClient);
    const books = new Map<number, BookKeys>();
    const add = async (ids: readonly number[]) => {
      const added = ids.map(makeKeys);
      for (const book of added) books.set(book.id, book);
      const { rows } = await client.query<BlockRow>(ADD, [JSON.stringify(added)]);
      await positions.split(rows);
    };
    const remove = async (ids: readonly number[]) => {
      for (const id of ids) books.delete(id);
      await client.query(REMOVE, [ids]);
    };
    try {
      await client.query(`
        ${createPositions('public')}
        create table book_search (
          id bigint primary key, title_key text collate "C" not null, author_key text collate "C" not null, year bigint not null
        )`);
      const ids = Array.from({ length: BOOKS }, (_, index) => index + 1);
      await add(ids.map((id) => 2 * id));
      // Until the first build, nothing is counted.
      assert.equal(await positions.countAfter(BY_TITLE, undefined), 0);
      await positions.build(60_000);
      await assertPositions(positions, books);
      // More than two blocks at the end of the order of ids, and some in between and before all.
      await add(ids.map((id) => (id % 5 === 0 ? 1 - id : 2 * BOOKS + id)));
      await assertPositions(positions, books);
      await remove([...books.keys()].filter((_, index) => index % 3 > 0 || index < 2_500));
      await assertPositions(positions, books);
      await remove([...books.keys()]);
      await assertPositions(positions, books);
      await add([1]);
      await assertPositions(positions, books);
      await client.query(CLEAR_POSITIONS);
      await add(ids.slice(1));
      await positions.build(60_000);
      await assertPositions(positions, books);
      await remove([...books.keys()]);
      await client.query(CLEAR_POSITIONS);
      await positions.build(60_000);
      await add(ids);
      await assertPositions(positions, books);
    } finally {
      await client.end();
    }
  });
});

const BY_TITLE = { sort: 'title', isDescending: false, yearFrom: -YEAR_MAX, yearTo: YEAR_MAX } as const;

const ADD = counting(
  '+',
  `insert into book_search select * from json_to_recordset($1::json)
     as added (id bigint, title_key text, author_key text, year bigint)`,
);
const REMOVE = counting('-', 'delete from book_search where id = any($1::bigint[])');

const INT8: number = types.builtins.INT8;
const getTypeParser: typeof types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === INT8 ? Number : types.getTypeParser(oid, format);

function makeKeys(id: number) {
  return { id, title_key: `${(id * 7_919) % 4_001}`, author_key: `a${id % 7}`, year: (id % 90) - 40 };
}

async function assertPositions(
  positions: OrderPositions,
  books: ReadonlyMap<number, BookKeys>,
): Promise<void> {
  for (const sort of SORT_KEYS)
    for (const isDescending of [false, true]) {
      const query: SearchQuery = { sort, isDescending, yearFrom: -YEAR_MAX, yearTo: YEAR_MAX };
      const column = keyColumnOf(query);
      const order = [...books.values()]
        .map((book) => ({ key: book[column] as string | number, id: book.id as number }))
        .toSorted(
          (one, other) => (isDescending ? -1 : 1) * (compare(one.key, other.key) || one.id - other.id),
        );
      assert.equal(await positions.countAfter(query, undefined), order.length);
      assert.equal(await positions.find(query, undefined, order.length + 1), undefined);
      for (let place = 0; place < order.length; place += 397) {
        const after = order[place];
        assert.deepEqual({ ...(await positions.find(query, undefined, place + 1)) }, after);
        assert.equal(await positions.countAfter(query, after), order.length - place - 1);
        const other = order[place + 1_500];
        const found = await positions.find(query, after, 1_500);
        assert.deepEqual(found && { ...found }, other);
      }
      // Positions of no book.
      const start = { key: sort === 'title' || sort === 'author' ? '' : -YEAR_MAX, id: -YEAR_MAX - 1 };
      assert.equal(await positions.countAfter(query, start), isDescending ? 0 : order.length);
    }
}

function compare(one: string | number, other: string | number): number {
  if (typeof one === 'number') return one - Number(other);
  return Buffer.compare(Buffer.from(one), Buffer.from(`${other}`));
}
