import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFolder } from '../../testkit/folder.ts';
import { createBook, send, startService, tokenFrom } from '../../testkit/service-process.ts';

/** Losses of the files of a running service. */
const LOSSES: Readonly<Record<string, (path: string) => Promise<void>>> = {
  'the database is deleted': (path) => rm(path),
  'the database is moved': (path) => rename(path, `${path}.old`),
  'the database is replaced by a copy of itself': async (path) => {
    await copyFile(path, `${path}.copy`);
    await rename(`${path}.copy`, path);
  },
  'the log is deleted': (path) => rm(`${path}-wal`),
  'the log is replaced by a copy of itself': async (path) => {
    await copyFile(`${path}-wal`, `${path}.copy`);
    await rename(`${path}.copy`, `${path}-wal`);
  },
  'the index of the log is deleted': (path) => rm(`${path}-shm`),
  'the index of the log is replaced by a copy of itself': async (path) => {
    await copyFile(`${path}-shm`, `${path}.copy`);
    await rename(`${path}.copy`, `${path}-shm`);
  },
  'the folder is moved': (path) => rename(join(path, '..'), `${join(path, '..')}-old`),
};

const ERROR_OUTPUT =
  /\nbookkeeping: stopping: the file \S+books\.db(-wal|-shm)? was deleted or replaced under the service\n$/;

describe('When the files of a running service change', { concurrency: 2 }, () => {
  for (const [loss, cause] of Object.entries(LOSSES)) {
    test(`so that ${loss}, the next write is not acknowledged, and the process prints one line and ends by SIGKILL`, async () => {
      await using folder = await createFolder();
      await using service = await startService(folder.path);
      const token = await tokenFrom(service, folder.path);
      await createBook(service, token, 'before');
      await cause(join(folder.path, 'data', 'books.db'));

      // The process may exit before the request.
      const response = await send(service, 'POST', '/book', { token, body: '{}' }).catch(() => undefined);
      assert.ok(response === undefined || response.status === 503, `status ${response?.status}`);
      const { signal, output, complaints } = await service.ended();
      assert.equal(signal, 'SIGKILL');
      assert.match(complaints, ERROR_OUTPUT);
      assert.match(output, /^\{"level":60,.*"msg":"the store is lost"\}$/m);
    });
  }

  test('the process exits without a request', async () => {
    await using folder = await createFolder();
    await using service = await startService(folder.path);
    await LOSSES['the database is moved']?.(join(folder.path, 'data', 'books.db'));

    const { signal, complaints } = await service.ended();
    assert.equal(signal, 'SIGKILL');
    assert.match(complaints, ERROR_OUTPUT);
  });
});

for (const when of ['while it serves', 'before it stops'] as const) {
  test(`A service whose index of the log is deleted ${when} does not undo the commits of a program that has ended`, async () => {
    await using folder = await createFolder();
    await using service = await startService(folder.path);
    await createBook(service, await tokenFrom(service, folder.path), 'before');
    const path = join(folder.path, 'data', 'books.db');
    await rm(`${path}-shm`);
    {
      using other = new DatabaseSync(path, { timeout: 5_000 });
      other.exec("insert into books (title, author, year) values ('of another program', '', 0)");
    }
    if (when === 'before it stops') service.signal('SIGTERM');

    const { signal, complaints } = await service.ended();
    assert.equal(signal, 'SIGKILL');
    assert.match(complaints, ERROR_OUTPUT);
    assert.deepEqual(titlesIn(path), ['before', 'of another program']);
  });
}

function titlesIn(path: string): unknown[] {
  using database = new DatabaseSync(path);
  return database
    .prepare('select title from books order by id')
    .all()
    .map(({ title }) => title);
}

test('A write that waits for a lock while the index of the log is replaced overwrites no commit of another process', async () => {
  await using folder = await createFolder();
  await using service = await startService(folder.path);
  const token = await tokenFrom(service, folder.path);
  await createBook(service, token, 'before');
  const path = join(folder.path, 'data', 'books.db');
  const holder = fork(join(import.meta.dirname, '../faults/lock-holder.ts'), [path]);
  await once(holder, 'message');
  const write = send(service, 'POST', '/book', { token, body: '{}' }).catch(() => undefined);
  await sleep(100);
  await rm(`${path}-shm`);
  using other = new DatabaseSync(path, { timeout: 5_000 });
  other.exec("insert into books (title, author, year) values ('of another process', '', 0)");
  holder.send('release');

  assert.notEqual((await write)?.status, 201);
  assert.equal((await service.ended()).signal, 'SIGKILL');
  assert.deepEqual(titlesIn(path), ['before', 'of another process']);
});

test('A service whose database is deleted while it stops ends by SIGKILL', async () => {
  await using folder = await createFolder();
  await using service = await startService(folder.path, { STOP_DELAY_SECONDS: '1' });
  await rm(join(folder.path, 'data', 'books.db'));

  const { signal, complaints } = await service.stop();
  assert.equal(signal, 'SIGKILL');
  assert.match(complaints, ERROR_OUTPUT);
});
