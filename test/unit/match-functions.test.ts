import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { StoreUnavailable } from '../../src/book/book-store-interface.ts';
import { needlesOf } from '../../src/store/search/folding.ts';
import { MatchFunctions, TooMuchText } from '../../src/store/sqlite/search/match-functions.ts';

const NEEDLES = needlesOf({ sort: 'id', isDescending: false, q: 'x', yearFrom: 0, yearTo: 0 });

describe('A statement that compares texts in SQLite', () => {
  test('ends at its limit of text', () => {
    using database = new DatabaseSync(':memory:');
    const functions = new MatchFunctions(database);
    database.exec('create table books (text text)');
    database.prepare('insert into books select ? from json_each(?)').run(`  ${'a'.repeat(98)}`, '[1,2,3,4]');
    const count = database.prepare(
      'select count(*) filter (where not is_match(null, null, text)) as count from books',
    );
    functions.begin(NEEDLES, 400);
    assert.equal(count.get()?.count, 4);
    assert.equal(functions.isHalfEmpty, false);
    for (const [lengthMax, books] of [
      [399, 3],
      [250, 2],
      [0, 1],
    ] as const) {
      functions.begin(NEEDLES, lengthMax);
      assert.throws(
        () => count.get(),
        (error) => error instanceof TooMuchText && error.books === books,
      );
    }
    database.exec('delete from books where rowid > 1');
    functions.begin(NEEDLES, 0);
    assert.equal(count.get()?.count, 1, 'a single book is compared however long it is');
  });

  test('sorts no more than 64 MiB without an index', () => {
    using database = new DatabaseSync(':memory:');
    const functions = new MatchFunctions(database);
    const sort = database.prepare(
      'select count(*) as count from json_each(?) where is_sortable(value * 1024 * 1024)',
    );
    functions.begin(undefined, 0);
    assert.equal(sort.get('[31, 32]')?.count, 2);
    functions.begin(undefined, 0);
    assert.throws(() => sort.get('[31, 32, 1]'), StoreUnavailable);
  });
});
