import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Book } from '../../src/book.ts';
import { PASSWORD, SECRET, Service, startService, USERNAME } from '../http/service.ts';
import { ServiceProcess } from '../process/service-process.ts';
import { engines } from '../support/engines.ts';
import { createFolder } from '../support/folder.ts';
import { ask, Load } from './load.ts';

const HOLDER = join(import.meta.dirname, 'lock-holder.ts');

describe('An SQLite file that another process is writing to', () => {
  test('for a while: writes wait and succeed, reads go on', async () => {
    await using address = await createSqliteAddress();
    await using service = await startService({ dbUrl: address.dbUrl });
    await createBooks(service, 2);
    const holder = await holdLock(address.path);
    const writes = [
      ask(service, 'POST', '/book', '{}'),
      ask(service, 'PUT', '/book/1', '{"year":1}'),
      ask(service, 'DELETE', '/book/2'),
    ];
    let isAnyAnswered = false;
    for (const write of writes) void write.then(() => (isAnyAnswered = true));
    await assertReadable(service);
    await sleep(1_000);
    await assertReadable(service);
    assert.ok(!isAnyAnswered);

    holder.send('let go');
    const statuses = (await Promise.all(writes)).map(({ status }) => status);
    assert.deepEqual(statuses, [201, 200, 200]);
  });

  test('for too long: writes are 503, reads go on, and later all is well', async () => {
    await using address = await createSqliteAddress();
    await using service = await startService({ dbUrl: address.dbUrl });
    await createBooks(service, 2);
    const holder = await holdLock(address.path);
    const writes = Promise.all([
      ask(service, 'POST', '/book', '{}'),
      ask(service, 'PUT', '/book/1', '{"year":1}'),
      ask(service, 'DELETE', '/book/2'),
    ]);
    await assertReadable(service);
    const statuses = (await writes).map(({ status }) => status);
    assert.deepEqual(statuses, [503, 503, 503]);
    await assertReadable(service);

    holder.send('let go');
    assert.deepEqual(await ask(service, 'POST', '/book', '{}'), {
      status: 201,
      data: { id: 3, title: '', author: '', year: 0 },
    });
    await assertReadable(service);
  });

  test('and is killed: writes that waited succeed', async () => {
    await using address = await createSqliteAddress();
    await using service = await startService({ dbUrl: address.dbUrl });
    const holder = await holdLock(address.path);
    const write = ask(service, 'POST', '/book', '{}');
    holder.kill('SIGKILL');
    assert.equal((await write).status, 201);
  });
});

test('two services on one SQLite file: all writes succeed, ids are unique, nothing is lost', async () => {
  await using address = await createSqliteAddress();
  await using service = await startService({ dbUrl: address.dbUrl });
  await using neighbour = await spawnService(address.dbUrl, service.token);
  const loads = [new Load(service, 6), new Load(neighbour, 6)];
  await Promise.all(loads.map((load) => load.progress(300)));
  for (const load of loads) await load.finish();
  assert.deepEqual(
    loads.map(({ refused }) => refused),
    [0, 0],
  );
  const [list, sameList] = await Promise.all([
    ask(service, 'GET', '/books'),
    ask(neighbour, 'GET', '/books'),
  ]);
  assert.deepEqual(sameList, list);
  const acknowledged = loads.reduce((sum, load) => sum + load.acknowledged, 0);
  assert.equal((list.data as Book[]).length, acknowledged, 'an id was given out by both');
});

async function createSqliteAddress() {
  const address = await engines[0]?.createAddress();
  assert.ok(address);
  return Object.assign(address, { path: address.dbUrl.replace('sqlite:', '') });
}

async function createBooks(service: Service, count: number): Promise<void> {
  for (let index = 0; index < count; index++) await ask(service, 'POST', '/book', '{}');
}

async function assertReadable(service: Service): Promise<void> {
  assert.equal((await ask(service, 'GET', '/book/1')).status, 200);
  assert.equal((await ask(service, 'GET', '/books')).status, 200);
}

async function holdLock(path: string): Promise<ChildProcess> {
  const holder = fork(HOLDER, [path]);
  await once(holder, 'message');
  return holder;
}

/** A service in a process of its own, with the same secret as ours. */
async function spawnService(dbUrl: string, token: string): Promise<Service> {
  await using resources = new AsyncDisposableStack();
  const folder = resources.use(await createFolder());
  const variables = {
    DB_URL: dbUrl,
    SECRET_TOKEN: SECRET,
    AUTH_USERNAME: USERNAME,
    AUTH_PASSWORD: PASSWORD,
  };
  const child = await resources.use(new ServiceProcess(folder.path, variables)).listening();
  const owned = resources.move();
  return new Service(child.url, token, [], () => owned.disposeAsync());
}
