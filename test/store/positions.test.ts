import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { YEAR_MAX } from '../../src/book/book.ts';
import { type SearchQuery, SORT_KEYS } from '../../src/search/book-search.ts';
import { keyColumnOf } from '../../src/search/conditions.ts';
import { type BookKeys, POSITIONS_TABLE, Positions } from '../../src/search/sqlite/positions.ts';

const BOOKS = 5_000;

describe('The positions of the index in SQLite', () => {
  test('find each book by its number, and count those after it, when books were added and removed', () => {
    using database = new DatabaseSync(':memory:');
    database.exec(`
      ${POSITIONS_TABLE}
      create table book_search (
        id integer primary key, title_key text not null, author_key text not null, year integer not null
      ) strict`);
    const insert = database.prepare('insert into book_search values (?, ?, ?, ?)');
    const books = new Map<number, BookKeys>();
    const store = (id: number): BookKeys => {
      const book = {
        id,
        title_key: `${(id * 7_919) % 4_001}`,
        author_key: `a${id % 7}`,
        year: (id % 90) - 40,
      };
      insert.run(book.id, book.title_key, book.author_key, book.year);
      books.set(id, book);
      return book;
    };
    const positions = new Positions(database);
    for (let id = 1; id <= BOOKS; id++) store(2 * id);
    assert.equal(positions.areBegun, false);
    assert.equal(positions.build(-Infinity), false);
    assert.equal(positions.areBegun, false);
    assert.equal(positions.build(Infinity), true);
    assert.equal(positions.areBegun, true);
    positions.flush();
    assertPositions(positions, books);
    // More than two blocks at the end of the order of ids, and some in between and before all.
    for (let id = 1; id <= BOOKS; id++) positions.add(store(id % 5 === 0 ? 1 - id : 2 * BOOKS + id));
    positions.flush();
    assertPositions(positions, books);
    const remove = database.prepare('delete from book_search where id = ?');
    for (const [id, book] of [...books].filter((_, index) => index % 3 > 0 || index < 2_500)) {
      remove.run(id);
      books.delete(id);
      positions.remove(book);
    }
    positions.flush();
    assertPositions(positions, books);
    for (const [id, book] of books) {
      remove.run(id);
      books.delete(id);
      positions.remove(book);
    }
    positions.flush();
    assertPositions(positions, books);
    positions.add(store(1));
    positions.flush();
    assertPositions(positions, books);
    positions.clear();
    positions.build(Infinity);
    positions.flush();
    assertPositions(positions, books);
    // A step has ended before the last order was built, and the next one begins with changes.
    database.exec("delete from positions where sort = 'year'");
    for (let id = 2; id <= 3_000; id++) positions.add(store(id));
    positions.flush();
    assert.equal(positions.build(-Infinity), false);
    assert.equal(positions.build(Infinity), true);
    assertPositions(positions, books);
  });
});

function assertPositions(positions: Positions, books: ReadonlyMap<number, BookKeys>): void {
  for (const sort of SORT_KEYS)
    for (const isDescending of [false, true]) {
      const query: SearchQuery = { sort, isDescending, yearFrom: -YEAR_MAX, yearTo: YEAR_MAX };
      const column = keyColumnOf(query);
      const order = [...books.values()]
        .map((book) => ({ key: book[column] as string | number, id: book.id as number }))
        .toSorted(
          (one, other) => (isDescending ? -1 : 1) * (compare(one.key, other.key) || one.id - other.id),
        );
      assert.equal(positions.countAfter(query, undefined), order.length);
      assert.equal(positions.find(query, undefined, order.length + 1), undefined);
      for (let place = 0; place < order.length; place += 397) {
        const after = order[place];
        assert.deepEqual({ ...positions.find(query, undefined, place + 1) }, after);
        assert.equal(positions.countAfter(query, after), order.length - place - 1);
        const other = order[place + 1_500];
        const found = positions.find(query, after, 1_500);
        assert.deepEqual(found && { ...found }, other);
      }
      // Positions of no book.
      const start = { key: sort === 'title' || sort === 'author' ? '' : -YEAR_MAX, id: -YEAR_MAX - 1 };
      assert.equal(positions.countAfter(query, start), isDescending ? 0 : order.length);
    }
}

function compare(one: string | number, other: string | number): number {
  if (typeof one === 'number') return one - Number(other);
  return Buffer.compare(Buffer.from(one), Buffer.from(`${other}`));
}
