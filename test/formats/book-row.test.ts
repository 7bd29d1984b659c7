import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBook } from '../../src/book/book.ts';
import { bookReader } from '../../src/formats/book-row.ts';
import { Invalid } from '../../src/json/invalid.ts';

const read = bookReader([], { title: 'title', author: 'author', year: 'year' });

test('A JSON object is a book if the service accepts it and a field is not empty', () => {
  const texts = ['', ' ', 'Emma', '\0', 'a\0', '\ud800', '\udc00\ud800', '😀', "'=1", null, 1, true, [], {}];
  const years = [0, -750, 1999, 19.5, 2 ** 53, -(2 ** 53) + 1, null, '1999', '', true, [1]];
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
