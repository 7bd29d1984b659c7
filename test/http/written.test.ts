import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailable } from '../../src/book/book-store.ts';
import { Connection, request } from '../../testkit/connection.ts';
import { createFolder } from '../../testkit/folder.ts';
import { startServiceOn, WRONG_LOGIN } from '../../testkit/service.ts';
import { openStoreAt } from '../../testkit/stores.ts';

test('Wings are called after the requests that may have written, also if these failed, and after no others', async () => {
  await using folder = await createFolder();
  await using store = await openStoreAt(`sqlite:${folder.path}/books.db`);
  const calls: unknown[] = [];
  await using service = await startServiceOn(
    Object.assign(store, {
      written: () => void calls.push(undefined),
      createMany: () => Promise.reject(new StoreUnavailable('X')),
    }),
  );
  const { authorization } = service;
  for (const [start, lines, body, status, expected] of [
    ['POST /token', [], WRONG_LOGIN, 401, 0],
    ['POST /book', [], '{}', 401, 0],
    ['POST /book', [authorization], '{', 400, 0],
    ['PUT /book/1', [authorization], '{}', 404, 0],
    ['GET /books', [authorization], '', 200, 0],
    ['POST /book', [authorization], '{}', 201, 1],
    ['PUT /book/1', [authorization, 'If-Match: "other"'], '{}', 412, 1],
    ['POST /books', [authorization], '[{}]', 503, 2],
    ['DELETE /book/1', [authorization], '', 200, 3],
  ] as const) {
    using connection = await Connection.open(service);
    await connection.send(request(start, lines, body));
    assert.equal((await connection.response()).status, status, start);
    // They are called when the response has been sent.
    while (calls.length < expected) await sleep(1);
    assert.equal(calls.length, expected, `${start} ${status}`);
  }
});
