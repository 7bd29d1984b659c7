import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SORT_KEY_LENGTH } from '../../src/search/book-search.ts';
import { readCursor, writeCursor } from '../../src/search/cursor.ts';

describe('A cursor', () => {
  test('is the position that it was made of, in characters that are safe in a URL', () => {
    for (const [sort, key] of [
      ['id', 7],
      ['-year', -750],
      ['title', ''],
      ['-title', '"<>\\ \n\u{1F4DA}'],
      ['twins', Number.MAX_SAFE_INTEGER],
      ['author', 'x'.repeat(SORT_KEY_LENGTH)],
      ['-author', '\u{10FFFF}'.repeat(SORT_KEY_LENGTH)],
      ['title', '\u0001'.repeat(SORT_KEY_LENGTH)],
    ] as const) {
      const position = { key, id: 7 };
      const text = writeCursor(sort, position);
      assert.match(text, /^[\w-]{1,2100}$/);
      assert.deepEqual(readCursor(text, sort), position);
    }
  });

  test('of another sort, or any other text, is invalid', () => {
    const text = writeCursor('title', { key: 'a', id: 1 });
    assert.ok(readCursor(text, 'title'));
    for (const sort of ['-title', 'author', 'id', 'year']) assert.equal(readCursor(text, sort), undefined);
    for (const fields of [
      ['title', 1],
      ['title', 1, 2],
      ['title', 1.5, 'a', 4],
      ['title', '1', 'a', 4],
      ['title', 2 ** 53, 'a', 4],
      ['title', 1, 'a', 4, 1],
      ['title', 1, 'a', 'b', 'c'],
      ['title', 1, 'a\0', 4],
      ['title', 1, '\ud800', 4],
      ['title', 1, 'x'.repeat(SORT_KEY_LENGTH + 1), 4],
      // Cursors of earlier orders.
      ['title', 1, 'a', 3],
      ['title', 1, 'a', 2],
      ['title', 1, 'a'],
      ['title', 1, 'a', 1],
      ['title'],
      { 0: 'title', 1: 1, 2: 'a' },
      null,
    ]) {
      assert.equal(readCursor(encode(JSON.stringify(fields)), 'title'), undefined, JSON.stringify(fields));
    }
    assert.equal(readCursor(encode('["id",1,2,4]'), 'id'), undefined);
    assert.equal(readCursor(encode('["year",1,"a",4]'), 'year'), undefined);
    assert.equal(readCursor(encode('["title", 1,"a",4]'), 'title'), undefined);
    for (const former of ['["id",1,1]', '["-id",1,1]', '["-year",1,1]'])
      assert.equal(readCursor(encode(former), former.split('"')[1] ?? ''), undefined);
    for (const other of ['', '!', `${text}=`, `${text} `, text.slice(1), 'W10'])
      assert.equal(readCursor(other, 'title'), undefined);
  });
});

function encode(text: string): string {
  return Buffer.from(text).toString('base64url');
}
