import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bookReader } from '../../formats/book-row.ts';
import { readBook } from '../../src/book/book.ts';
import { Invalid } from '../../src/json/invalid.ts';

const read = bookReader([], { title: 'title', author: 'author', year: 'year' });

test('A JSON object is the book that the service would store, if it accepts it and a field is not empty', () => {
  const texts = ['', ' ', 'Emma', '\0', 'a\0', '\ud800', '\udc00\ud800', '😀', "'=1", true, {}];
  const years = [0, -750, 1999, 19.5, 2 ** 53, true];
  const fields = [
    ...texts.flatMap((text) => [{ title: text }, { Author: text }]),
    ...years.map((year) => ({ YEAR: year })),
    { other: null },
    { title: 'x'.repeat(4_096), author: '📚'.repeat(4_096) },
    { title: '📚'.repeat(4_097) },
    { author: 'x'.repeat(4_097) },
  ];
  for (const object of fields) {
    const json = Buffer.from(JSON.stringify(object));
    const accepted = readBook(json);
    const row = read({ line: 1, json });
    const isEmpty = Object.values(object).every((value) => value === '' || value === null);
    if (!(accepted instanceof Invalid) && !isEmpty) assert.deepEqual(row, { line: 1, book: accepted });
    else assert.ok('error' in row, JSON.stringify(object).slice(0, 50));
  }
});

test('A row whose year cannot be read is a book of the year 0 if that is wanted', () => {
  const mapping = { title: 'title', author: undefined, year: 'year' };
  const readAll = bookReader(['title', 'year'], mapping, { acceptsUnreadYears: true });
  const emma = { title: 'Emma', author: '', year: 0 };
  assert.deepEqual(readAll({ line: 2, cells: ['Emma', 'ca. 1815'] }), {
    line: 2,
    book: emma,
    isYearUnread: true,
  });
  assert.deepEqual(readAll({ line: 1, json: Buffer.from('{"title":"Emma","year":"ca. 1815"}') }), {
    line: 1,
    book: emma,
    isYearUnread: true,
  });
  assert.deepEqual(readAll({ line: 2, cells: ['Emma', '1815'] }), { line: 2, book: { ...emma, year: 1815 } });
  const other = readAll({ line: 2, cells: ['', 'x'] });
  assert.ok('error' in other && other.error.kind === 'year');
});

test('A copy of a store, with ids, has its years unchanged', () => {
  const mapping = { title: 'title', author: undefined, year: 'year', id: 'id' };
  const readCopy = bookReader(['id', 'title', 'year'], mapping);
  for (const year of [20190305, 12345, Number.MAX_SAFE_INTEGER]) {
    const book = { id: 7, title: 'Emma', author: '', year };
    assert.deepEqual(readCopy({ line: 2, cells: ['7', 'Emma', String(year)] }), { line: 2, book });
    assert.deepEqual(readCopy({ line: 1, json: Buffer.from(JSON.stringify(book)) }), { line: 1, book });
  }
});
