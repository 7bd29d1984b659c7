import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreUnavailable } from '../../src/book/book-store.ts';
import { isConnectionBroken, sqlState, toStoreError } from '../../src/store/postgres/errors.ts';

test('A socket error of PostgreSQL is a broken connection, also if its code has five characters like an SQLSTATE', () => {
  for (const code of ['ECONNRESET', 'EPIPE']) {
    const error = Object.assign(new Error(`write ${code}`), { code, syscall: 'write' });
    assert.equal(sqlState(error), undefined);
    assert.equal(isConnectionBroken(error), true);
    assert.deepEqual(toStoreError(error), new StoreUnavailable(code));
  }
});
