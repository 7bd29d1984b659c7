import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { BATCH_LIMITS } from '../../src/store/limits.ts';
import { openSharedWriter } from '../../src/store/load-engine.ts';
import { createFolder } from '../../testkit/folder.ts';

test('The writer for several workers queues long batches of all, beyond the limit of one queue', async () => {
  await using folder = await createFolder();
  const writer = await openSharedWriter({ engine: 'sqlite', path: join(folder.path, 'books.db') });
  assert.ok(writer);
  const replies = Promise.withResolvers<void>();
  const failures: object[] = [];
  let unanswered = WORKERS * 2;
  const title = 'x'.repeat(Math.ceil(BATCH_LIMITS.queueTextMax / unanswered) + 1);
  for (let number = 0; number < WORKERS; number++) {
    const worker = Object.assign(new EventEmitter(), {
      send(reply: object) {
        if ('failure' in reply) failures.push(reply);
        if (--unanswered === 0) replies.resolve();
        return true;
      },
    });
    writer.addWorker(worker);
    for (const id of [1, 2]) {
      worker.emit('message', { id, writes: [{ verb: 'create', fields: { title, author: '', year: 1 } }] });
    }
  }
  await replies.promise;
  await writer.close();
  assert.deepEqual(failures, []);
});

const WORKERS = 4;
