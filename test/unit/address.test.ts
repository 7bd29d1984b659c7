import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseStoreAddress } from '../../src/store/address.ts';

describe('DB_URL names a SQLite file', () => {
  const PATHS = {
    'sqlite:books.db': 'books.db',
    'sqlite:data/books.db': 'data/books.db',
    'sqlite:./books.db': './books.db',
    'sqlite:/var/lib/books.db': '/var/lib/books.db',
    'sqlite:///var/lib/books.db': '/var/lib/books.db',
    'sqlite://data/books.db': 'data/books.db',
    'SQLite:my books.db': 'my books.db',
    'sqlite:a=b.db': 'a=b.db',
    'sqlite:postgres://db': 'postgres://db',
  };
  for (const [dbUrl, path] of Object.entries(PATHS)) {
    test(`${dbUrl} is ${path}`, () => assert.deepEqual(parseStoreAddress(dbUrl), { engine: 'sqlite', path }));
  }

  test('but not a database in memory, a folder or parameters', () => {
    assert.throws(
      () => parseStoreAddress('sqlite::memory:'),
      /^Error: a database in memory would lose every book/,
    );
    for (const dbUrl of ['sqlite:', 'sqlite://', 'sqlite:data/']) {
      assert.throws(() => parseStoreAddress(dbUrl), /^Error: it names no file$/);
    }
    assert.throws(
      () => parseStoreAddress('sqlite:books.db?mode=memory'),
      /^Error: parameters after the path/,
    );
  });
});

describe('DB_URL names a PostgreSQL database', () => {
  for (const dbUrl of [
    'postgres://db/books',
    'postgresql://db/books',
    'Postgres://db/books',
    'host=db dbname=books',
  ]) {
    test(`as ${dbUrl}`, () => {
      const address = parseStoreAddress(dbUrl);
      assert.ok(address.engine === 'postgres');
      assert.equal(address.conninfo.host, 'db');
      assert.equal(address.conninfo.dbname, 'books');
    });
  }
});

describe('DB_URL is rejected', () => {
  for (const dbUrl of [
    'mysql://app:hunter2@db/books',
    'books.db',
    'file:hunter2.db',
    'hunter2',
    'http://db?a=b',
    'C:\\a=b',
  ]) {
    test(`as ${dbUrl}`, () => {
      assert.throws(() => parseStoreAddress(dbUrl), {
        message: 'it must begin with sqlite:, postgres:// or postgresql://, or have the form host=… dbname=…',
      });
    });
  }
});
