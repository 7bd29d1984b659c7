import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { engines } from '../../testkit/engines.ts';
import { createFolder } from '../../testkit/folder.ts';
import {
  createBook,
  listTitles,
  type ServiceProcess,
  send,
  startService,
  tokenFrom,
} from '../../testkit/service-process.ts';

const CLIENTS = 16;
const ROUNDS = 2;
const KILLS = 4;
const ACKNOWLEDGED_MIN = 60;

/** Creates books concurrently and records the acknowledged ones, until the service is killed. */
async function createUntilKilled(service: ServiceProcess, token: string, acknowledged: Map<number, string>) {
  const client = async (name: string) => {
    for (let volume = 0; ; volume++) {
      const title = `${name}, volume ${volume}`;
      acknowledged.set(await createBook(service, token, title), title);
    }
  };
  const clients = Array.from({ length: CLIENTS }, (_, index) => client(`${service.port}, client ${index}`));
  await Promise.allSettled(clients);
}

for (const engine of engines) {
  describe(`On ${engine.name}`, { concurrency: 2 }, () => {
    test('every acknowledged book survives SIGKILL in the middle of concurrent requests', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      const acknowledged = new Map<number, string>();
      for (let round = 1; round <= ROUNDS; round++) {
        await using service = await startService(folder.path, { DB_URL: address.dbUrl });
        const token = await tokenFrom(service, folder.path);
        const clients = createUntilKilled(service, token, acknowledged);
        while (acknowledged.size < round * ACKNOWLEDGED_MIN) await new Promise(setImmediate);
        service.signal('SIGKILL');
        await clients;
        await service.ended();
      }

      await using service = await startService(folder.path, { DB_URL: address.dbUrl });
      const stored = await listTitles(service, await tokenFrom(service, folder.path));
      for (const [id, title] of acknowledged) assert.equal(stored.get(id), title);
      // Only requests that were pending at a kill may have taken effect without a response.
      assert.ok(stored.size <= acknowledged.size + ROUNDS * CLIENTS);
    });

    test('a change of many books survives SIGKILL as a whole, or not at all', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      const BOOKS = 2_000;
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

    test('two processes can use one store', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      await using first = await startService(folder.path, { DB_URL: address.dbUrl });
      await using second = await startService(folder.path, { DB_URL: address.dbUrl });
      const token = await tokenFrom(first, folder.path);

      const titles = Array.from({ length: 100 }, (_, index) => `Volume ${index}`);
      const ids = await Promise.all(
        titles.map((title, index) => createBook(index % 2 === 0 ? first : second, token, title)),
      );
      const expected = new Map(ids.map((id, index) => [id, titles[index]] as const));
      assert.equal(expected.size, titles.length);
      for (const service of [first, second]) {
        assert.deepEqual(
          [...(await listTitles(service, token))],
          [...expected].toSorted(([a], [b]) => a - b),
        );
      }
    });
  });
}
