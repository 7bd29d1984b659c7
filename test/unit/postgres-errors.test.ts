import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseError } from 'pg';
import { StoreUnavailable } from '../../src/book/book-store.ts';
import { sqlState } from '../../src/store/postgres/error-codes.ts';
import { isConnectionBroken, isReadOnly, toStoreError } from '../../src/store/postgres/errors.ts';

test('A socket error of PostgreSQL is a broken connection, also if its code has five characters like an SQLSTATE', () => {
  for (const code of ['ECONNRESET', 'EPIPE']) {
    const error = Object.assign(new Error(`write ${code}`), { code, syscall: 'write' });
    assert.equal(sqlState(error), undefined);
    assert.equal(isConnectionBroken(error), true);
    assert.deepEqual(toStoreError(error), new StoreUnavailable(code));
  }
});

test('A read-only server is one also if a function of the service says so, but not if a trigger of another program does', () => {
  for (const [where, expected] of [
    ['PL/pgSQL function public.book_history_last() line 4 at RAISE', true],
    ['fonction PL/pgSQL book_history_last(), ligne 4 à RAISE', true],
    ['PL/pgSQL function judge() line 4 at RAISE', false],
  ] as const) {
    const fields = { code: '25006', routine: 'exec_stmt_raise', where };
    const error = Object.assign(new DatabaseError('no', 2, 'error'), fields);
    assert.equal(isReadOnly(error), expected, where);
  }
});
