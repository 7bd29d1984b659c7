import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Book } from '../../src/book.ts';
import { positionOf, readCursor, writeCursor } from '../../src/http/cursor.ts';

const LONG = 'é\u{1F4DA}'.repeat(5_000);

describe('A cursor', () => {
  test('stands for the place that it was made from, and is short and safe in a URL', async () => {
    for (const [sort, key] of [
      ['id', 7],
      ['-year', -750],
      ['title', ''],
      ['-title', '"<>\\ \n\u{1F4DA}'],
      ['author', LONG],
      ['-author', 'x'.repeat(64)],
      ['title', `${'\u{1F4DA}'.repeat(64)}x`],
    ] as const) {
      const place = { key, id: 7 };
      const text = writeCursor(sort, place);
      assert.match(text, /^[\w-]{1,450}$/);
      const cursor = readCursor(text, sort);
      assert.ok(cursor);
      const book = { id: 7, title: `${key}`, author: `${key}`, year: 0 };
      assert.deepEqual(await positionOf(cursor, sort, async () => book), place);
    }
  });

  test('is none of another sort, and nothing else is one', () => {
    const text = writeCursor('title', { key: 'a', id: 1 });
    assert.ok(readCursor(text, 'title'));
    for (const sort of ['-title', 'author', 'id', 'year']) assert.equal(readCursor(text, sort), undefined);
    for (const fields of [
      ['title', 1],
      ['title', 1, 2],
      ['title', 1.5, 'a'],
      ['title', '1', 'a'],
      ['title', 2 ** 53, 'a'],
      ['title', 1, 'a', 1],
      ['title', 1, 'a', 'b', 'c'],
      ['title', 1, 'a\0'],
      ['title', 1, '\ud800'],
      ['title', 1, 'x'.repeat(65)],
      ['title'],
      { 0: 'title', 1: 1, 2: 'a' },
      null,
    ]) {
      assert.equal(readCursor(encode(JSON.stringify(fields)), 'title'), undefined, JSON.stringify(fields));
    }
    assert.equal(readCursor(encode('["id",1,2]'), 'id'), undefined);
    assert.equal(readCursor(encode('["year",1,"a"]'), 'year'), undefined);
    assert.equal(readCursor(encode('["title", 1,"a"]'), 'title'), undefined);
    for (const other of ['', '!', `${text}=`, `${text} `, text.slice(1), 'W10'])
      assert.equal(readCursor(other, 'title'), undefined);
  });

  test('whose long key is no more is in front of all that begin alike', async () => {
    const books: (Book | undefined)[] = [
      undefined,
      { id: 7, title: 'short', author: '', year: 0 },
      { id: 7, title: `${LONG}x`, author: '', year: 0 },
    ];
    for (const book of books) {
      for (const [sort, isBefore] of [
        ['title', (key: string) => Buffer.compare(Buffer.from(key), Buffer.from(LONG)) < 0],
        ['-title', (key: string) => Buffer.compare(Buffer.from(key), Buffer.from(LONG)) > 0],
      ] as const) {
        const cursor = readCursor(writeCursor(sort, { key: LONG, id: 7 }), sort);
        assert.ok(cursor);
        const { key } = await positionOf(cursor, sort, async () => book);
        assert.ok(isBefore(`${key}`));
      }
    }
  });
});

function encode(text: string): string {
  return Buffer.from(text).toString('base64url');
}
