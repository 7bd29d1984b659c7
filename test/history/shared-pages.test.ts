import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChangePage, CursorFault } from '../../src/history/book-history.ts';
import { openHistory } from '../../src/history/open-history.ts';
import { engines } from '../../testkit/engines.ts';
import { NO_OBSERVER } from '../../testkit/no-observer.ts';
import { startServiceOn } from '../../testkit/service.ts';
import { openStoreAt } from '../../testkit/stores.ts';

const FOLLOWERS = 50;

for (const engine of engines) {
  test(`Followers that wait for the same changes share their JSON, so that long ones block nobody, on ${engine.name}`, async () => {
    await using address = await engine.createAddress();
    await using store = await openStoreAt(address.dbUrl);
    await using history = await openHistory(store.connection, 90, NO_OBSERVER);
    assert.ok(history);
    const counts = { reads: 0, pages: 0, rendered: 0 };
    const counting = (page: ChangePage | CursorFault) => {
      counts.reads++;
      if (typeof page === 'string' || page.changes.length === 0) return page;
      counts.pages++;
      const changes = page.changes.map((change) => ({
        ...change,
        book: Object.assign(change.book, {
          toJSON() {
            counts.rendered++;
            const { id, title, author, year } = change.book;
            return { id, title, author, year };
          },
        }),
      }));
      return { ...page, changes };
    };
    const read = history.read.bind(history);
    history.read = async (...call) => counting(await read(...call));
    await using service = await startServiceOn(store, {}, history);
    const responses = Array.from({ length: FOLLOWERS }, () =>
      service.fetch('GET', '/changes?after=now&wait=60'),
    );
    while (counts.reads < FOLLOWERS) await sleep(5);
    assert.equal((await service.fetch('POST', '/book', '{"title":"Emma"}')).status, 201);
    for (const response of await Promise.all(responses)) {
      const { data } = (await response.json()) as { data: { book: { title: string } }[] };
      assert.deepEqual(
        data.map(({ book }) => book.title),
        ['Emma'],
      );
    }
    assert.equal(counts.rendered, counts.pages);
  });
}
