import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StoreUnavailable } from '../../src/book/book-store.ts';
import { outcomes } from '../../src/http/outcomes.ts';
import { assertNothingConfidential } from '../../testkit/confidential.ts';

describe('The assertion that a text has nothing confidential', () => {
  for (const [what, text] of Object.entries({
    'a token': 'cannot verify eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjF9.c2ln',
    'a query': 'while running select id, title from books where id = $1',
    'a statement': 'INSERT INTO books (title) VALUES (?)',
    'a message of SQLite': new Error('SQLITE_BUSY: database is locked').message,
    'a message of PostgreSQL': 'duplicate key value violates unique constraint "books_pkey"',
    'a broken connection': 'connect ECONNREFUSED 127.0.0.1:5432',
    'a file': 'unable to open data/books.db',
    'a folder': 'cannot read /var/lib/books',
    'a stack': new Error('x').stack ?? '',
  })) {
    test(`detects ${what}`, () => assert.throws(() => assertNothingConfidential(text)));
  }

  test('accepts every message', () => {
    for (const outcome of Object.values(outcomes)) assertNothingConfidential(JSON.stringify(outcome));
    assertNothingConfidential(new StoreUnavailable('57P01').message);
  });
});
