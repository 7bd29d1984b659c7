import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, request } from '../../testkit/connection.ts';
import { engines } from '../../testkit/engines.ts';
import { longBooks } from '../../testkit/long-books.ts';
import { type Service, startService, startServiceOn } from '../../testkit/service.ts';
import { openStoreAt } from '../../testkit/stores.ts';
import { sendRequest } from './send-request.ts';

const HOLDER = join(import.meta.dirname, 'lock-holder.ts');

describe('While another process holds the write lock of an SQLite file', () => {
  test('for a short time, writes wait and succeed, and reads succeed', async () => {
    await using address = await createSqliteAddress();
    await using service = await startService({ dbUrl: address.dbUrl });
    await createBooks(service, 2);
    const holder = await holdLock(address.path);
    const writes = [
      sendRequest(service, 'POST', '/book', '{}'),
      sendRequest(service, 'PUT', '/book/1', '{"year":1}'),
      sendRequest(service, 'DELETE', '/book/2'),
    ];
    let hasAnySettled = false;
    for (const write of writes) void write.then(() => (hasAnySettled = true));
    await assertReadable(service);
    assert.ok(!hasAnySettled);

    holder.send('release');
    const statuses = (await Promise.all(writes)).map(({ status }) => status);
    assert.deepEqual(statuses, [201, 200, 200]);
  });

  test('for too long, writes get 503 and reads succeed; afterwards writes succeed', async () => {
    await using address = await createSqliteAddress();
    await using service = await startService({ dbUrl: address.dbUrl });
    await createBooks(service, 2);
    const holder = await holdLock(address.path);
    const writes = Promise.all([
      sendRequest(service, 'POST', '/book', '{}'),
      sendRequest(service, 'PUT', '/book/1', '{"year":1}'),
      sendRequest(service, 'DELETE', '/book/2'),
    ]);
    await assertReadable(service);
    const statuses = (await writes).map(({ status }) => status);
    assert.deepEqual(statuses, [503, 503, 503]);
    await assertReadable(service);

    holder.send('release');
    assert.deepEqual(await sendRequest(service, 'POST', '/book', '{}'), {
      status: 201,
      data: { id: 3, title: '', author: '', year: 0 },
    });
    await assertReadable(service);
  });

  test('that is then killed, waiting writes succeed', async () => {
    await using address = await createSqliteAddress();
    await using service = await startService({ dbUrl: address.dbUrl });
    const holder = await holdLock(address.path);
    const write = sendRequest(service, 'POST', '/book', '{}');
    holder.kill('SIGKILL');
    assert.equal((await write).status, 201);
  });
});

test('Bodies of disconnected clients count towards the memory limit while the store has them', async () => {
  await using address = await createSqliteAddress();
  await using store = await openStoreAt(address.dbUrl);
  // For as long as the test likes: a lock would end the write after some seconds.
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const createMany = store.createMany.bind(store);
  store.createMany = async (...call) => {
    begun.resolve();
    await released.promise;
    return createMany(...call);
  };
  await using service = await startServiceOn(store, { bodyBytesAtOnce: 2 * 1_048_576 });
  const invalid = ' '.repeat(1_000_000);
  const isRejected = async () => (await service.fetch('POST', '/book', invalid)).status === 503;
  {
    using connection = await Connection.open(service);
    await connection.send(request('POST /books', [service.authorization], longBooks(1)));
    await begun.promise;
    assert.ok(await isRejected());
    connection.reset();
  }
  // After these responses the service has noticed it.
  for (let round = 0; round < 3; round++) await service.fetch('GET', '/nowhere');
  assert.ok(await isRejected());

  released.resolve();
  while (await isRejected()) await sleep(10);
  assert.equal(((await sendRequest(service, 'GET', '/books')).data as unknown[]).length, 255);
});

async function createSqliteAddress() {
  const address = await engines[0]?.createAddress();
  assert.ok(address);
  return Object.assign(address, { path: address.dbUrl.replace('sqlite:', '') });
}

async function createBooks(service: Service, count: number): Promise<void> {
  for (let index = 0; index < count; index++) await sendRequest(service, 'POST', '/book', '{}');
}

async function assertReadable(service: Service): Promise<void> {
  assert.equal((await sendRequest(service, 'GET', '/book/1')).status, 200);
  assert.equal((await sendRequest(service, 'GET', '/books')).status, 200);
}

async function holdLock(path: string): Promise<ChildProcess> {
  const holder = fork(HOLDER, [path]);
  await once(holder, 'message');
  return holder;
}
