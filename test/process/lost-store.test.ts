import assert from 'node:assert/strict';
import { copyFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createFolder } from '../support/folder.ts';
import { createBook, send, startService, tokenFrom } from './service-process.ts';

/** What may happen to the files of a running service. */
const LOSSES: Readonly<Record<string, (path: string) => Promise<void>>> = {
  'the database is deleted': (path) => rm(path),
  'the database is moved away': (path) => rename(path, `${path}.old`),
  'the database is replaced by a copy of itself': async (path) => {
    await copyFile(path, `${path}.copy`);
    await rename(`${path}.copy`, path);
  },
  'the log is deleted': (path) => rm(`${path}-wal`),
  'the folder is moved away': (path) => rename(join(path, '..'), `${join(path, '..')}-old`),
};

const COMPLAINT =
  /\nbookkeeping: stopping: the file \S+books\.db(-wal)? was deleted or replaced under the service\n$/;

for (const [loss, happen] of Object.entries(LOSSES)) {
  describe(`When ${loss} under the service`, { concurrency: true }, () => {
    test('the next write is not acknowledged, and the process ends with 1 and one line', async () => {
      await using folder = await createFolder();
      await using service = await startService(folder.path);
      const token = await tokenFrom(service, folder.path);
      await createBook(service, token, 'before');
      await happen(join(folder.path, 'data', 'books.db'));

      // The end may come before the request does.
      const answer = await send(service, 'POST', '/book', { token, body: '{}' }).catch(() => undefined);
      assert.ok(answer === undefined || answer.status === 503, `status ${answer?.status}`);
      const { code, output, complaints } = await service.ended();
      assert.equal(code, 1);
      assert.match(complaints, COMPLAINT);
      assert.match(output, /^\{"level":60,.*"msg":"the store is lost"\}$/m);
    });

    test('the process ends though nobody asks it for anything', async () => {
      await using folder = await createFolder();
      await using service = await startService(folder.path);
      await happen(join(folder.path, 'data', 'books.db'));

      const { code, complaints } = await service.ended();
      assert.equal(code, 1);
      assert.match(complaints, COMPLAINT);
    });
  });
}
