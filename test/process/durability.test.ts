import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { engines } from '../../testkit/engines.ts';
import { createFolder } from '../../testkit/folder.ts';
import { listTitles, send, startService, tokenFrom } from '../../testkit/service-process.ts';

const KILLS = 2;
const BOOKS = 2_000;

for (const engine of engines) {
  test(`A change of many books survives SIGKILL as a whole, or not at all, on ${engine.name}`, async () => {
    await using folder = await createFolder();
    await using address = await engine.createAddress();
    let ids: readonly number[] = [];
    let acknowledged = -1;
    for (let round = 0; round < KILLS; round++) {
      await using service = await startService(folder.path, { DB_URL: address.dbUrl });
      const token = await tokenFrom(service, folder.path);
      if (round === 0) {
        const body = JSON.stringify(Array.from({ length: BOOKS }, () => ({ title: '-1' })));
        const { data } = await send(service, 'POST', '/books', { token, body });
        ids = (data as { id: number }[]).map(({ id }) => id);
      }
      const stored = await listTitles(service, token);
      const titles = new Set(stored.values());
      assert.deepEqual([stored.size, titles.size], [BOOKS, 1]);
      assert.ok(Number([...titles][0]) >= acknowledged);
      const first = Promise.withResolvers<void>();
      const change = async () => {
        for (let title = Number([...titles][0]) + 1; ; title++) {
          const body = JSON.stringify(ids.map((id) => ({ id, title: `${title}` })));
          const { status } = await send(service, 'PATCH', '/books', { token, body });
          assert.equal(status, 200);
          acknowledged = title;
          first.resolve();
        }
      };
      const ended = change().catch(first.reject);
      await first.promise;
      // At any moment of a later request.
      await sleep(Math.random() * 200);
      service.signal('SIGKILL');
      await ended;
      await service.ended();
    }
    assert.ok(acknowledged >= 0);
  });
}
