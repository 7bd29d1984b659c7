import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Book } from '../../src/book/book.ts';
import { engines } from '../../testkit/engines.ts';
import { type Service, startService } from '../../testkit/service.ts';

/** Longer than any of them waits on a busy machine. */
const httpLimits = { turnMs: 100_000 };

for (const { name: engine } of engines) {
  describe(`Requests for many books at the same time on ${engine}`, () => {
    test('wait for each other: none of 100 pairs of restores is 503, and each book is restored once', async () => {
      await using service = await startService({ engine, hasHistory: true, httpLimits });
      const [first = 0, second = 0, third = 0] = await createBooks(service, 3);
      for (let round = 0; round < 100; round++) {
        for (const id of [first, second, third]) await service.fetch('DELETE', `/book/${id}`);
        // Each restores a book of its own, and one of them the book of both.
        const statuses = await Promise.all([
          restore(service, [first, third]),
          restore(service, [second, third]),
        ]);
        assert.deepEqual(statuses.toSorted(), [200, 409]);
      }
    });

    test('wait for each other: none of 100 restores, changes and long creates is 503', async () => {
      await using service = await startService({ engine, hasHistory: true, httpLimits });
      const [restored = 0, changed = 0] = await createBooks(service, 2);
      const long = `[{}]${' '.repeat(1_100_000)}`;
      for (let year = 0; year < 100; year++) {
        await service.fetch('DELETE', `/book/${restored}`);
        const responses = [
          restore(service, [restored]),
          statusOf(service, 'PATCH', JSON.stringify([{ id: changed, year }])),
          ...(year % 10 === 0 ? [statusOf(service, 'POST', long)] : []),
        ];
        assert.deepEqual(await Promise.all(responses), year % 10 === 0 ? [200, 200, 201] : [200, 200]);
      }
    });

    test('need memory for their own books: a restore and a change of 10,000 leave enough for another one', async () => {
      await using service = await startService({ engine, hasHistory: true, httpLimits });
      const ids = await createBooks(service, 10_000);
      const remove = ids.map((id) => ({ id, deleted: true }));
      assert.equal(await statusOf(service, 'PATCH', JSON.stringify(remove)), 200);
      const [another = 0] = await createBooks(service, 1);
      await service.fetch('DELETE', `/book/${another}`);
      const others = await createBooks(service, 10_000);
      const statuses = await Promise.all([
        restore(service, ids),
        statusOf(service, 'PATCH', JSON.stringify(others.map((id) => ({ id, year: 7 })))),
        restore(service, [another]),
      ]);
      assert.deepEqual(statuses, [200, 200, 200]);
    });
  });
}

/** @returns their ids */
async function createBooks(service: Service, count: number): Promise<number[]> {
  const body = JSON.stringify(
    Array.from({ length: count }, (_, year) => ({ title: `Volume ${year}`, year })),
  );
  const response = await service.fetch('POST', '/books', body);
  assert.equal(response.status, 201);
  return ((await response.json()) as { data: Book[] }).data.map(({ id }) => id);
}

async function restore(service: Service, ids: readonly number[]): Promise<number> {
  return (await service.fetch('POST', '/books/restore', JSON.stringify(ids))).status;
}

async function statusOf(service: Service, method: 'POST' | 'PATCH', body: string): Promise<number> {
  return (await service.fetch(method, '/books', body)).status;
}
