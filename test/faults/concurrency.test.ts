import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Book } from '../../src/book/contract.ts';
import { engines } from '../../testkit/engines.ts';
import { type Service, startService } from '../../testkit/service.ts';
import { findViolation, type Operation } from './history.ts';

for (const engine of engines) {
  describe(`Concurrent requests on ${engine.name}`, () => {
    test('updates of different fields are all kept', async () => {
      await using address = await engine.createAddress();
      await using service = await startService({ dbUrl: address.dbUrl });
      const { id } = await sendRequest<Book>(service, 'POST', '/book', {});
      for (let round = 0; round < 50; round++) {
        const changes = { title: `title ${round}`, author: `author ${round}`, year: round };
        const puts = Object.entries(changes).map(([field, value]) =>
          sendRequest<Book>(service, 'PUT', `/book/${id}`, { [field]: value }),
        );
        const responses = await Promise.all(puts);
        assert.deepEqual(
          [responses[0]?.title, responses[1]?.author, responses[2]?.year],
          Object.values(changes),
        );
        assert.deepEqual(await sendRequest(service, 'GET', `/book/${id}`), { id, ...changes });
      }
    });

    test('PUTs and GETs of a book are linearizable', async () => {
      await using address = await engine.createAddress();
      await using service = await startService({ dbUrl: address.dbUrl });
      for (let round = 0; round < 2; round++) {
        const books = await Promise.all([1, 2, 3].map(() => sendRequest<Book>(service, 'POST', '/book', {})));
        const histories = await Promise.all(books.map(({ id }) => record(service, `/book/${id}`)));
        for (const history of histories) assert.equal(findViolation(history, 0), undefined);
      }
    });

    test('GET /books has every book that exists throughout the request, once, ordered by id', async () => {
      await using address = await engine.createAddress();
      await using service = await startService({ dbUrl: address.dbUrl });
      await listDuringChanges(service);
    });
  });
}

const CLIENTS = 6;
const CALLS = 40;

/** Writes and reads the year of one book from concurrent clients. */
async function record(service: Service, path: string): Promise<Operation[]> {
  const history: Operation[] = [];
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      for (let call = 0; call < CALLS; call++) {
        const isWrite = (client + call) % 3 === 0;
        const written = 1 + client * CALLS + call;
        const start = performance.now();
        const { year } = isWrite
          ? await sendRequest<Book>(service, 'PUT', path, { year: written })
          : await sendRequest<Book>(service, 'GET', path);
        const end = performance.now();
        if (isWrite) assert.equal(year, written);
        history.push({ kind: isWrite ? 'write' : 'read', value: year, start, end });
      }
    }),
  );
  return history;
}

/** More than two pages of the list. */
const STABLE_BOOKS = 2_500;
const LISTS = 10;

/** Lists the books repeatedly while clients create and delete others. */
async function listDuringChanges(service: Service): Promise<void> {
  /** Books whose POST has completed and whose DELETE has not started. */
  const existing = new Set<number>();
  const create = async () => existing.add((await sendRequest<Book>(service, 'POST', '/book', {})).id);
  const stable = Array.from({ length: STABLE_BOOKS }, () => ({}));
  for (const { id } of await sendRequest<Book[]>(service, 'POST', '/books', stable)) existing.add(id);

  const controller = new AbortController();
  const changing = Array.from({ length: 4 }, async (_, client) => {
    while (!controller.signal.aborted) {
      await create();
      const deleted = [...existing][(client * 617) % existing.size] as number;
      if (!existing.delete(deleted)) continue;
      await sendRequest(service, 'DELETE', `/book/${deleted}`);
    }
  });
  try {
    for (let list = 0; list < LISTS; list++) {
      const before = new Set(existing);
      const ids = (await sendRequest<Book[]>(service, 'GET', '/books')).map(({ id }) => id);
      assert.ok(
        ids.every((id, index) => id > (ids[index - 1] ?? 0)),
        'unordered or duplicate ids',
      );
      const missing = before.intersection(existing).difference(new Set(ids));
      assert.deepEqual([...missing], []);
    }
  } finally {
    controller.abort();
    await Promise.all(changing);
  }
}

/** @returns the `data` of a 2xx response */
async function sendRequest<Data>(
  service: Service,
  method: string,
  path: string,
  body?: object,
): Promise<Data> {
  const response = await service.fetch(method, path, body && JSON.stringify(body));
  const text = await response.text();
  assert.ok(response.ok, text);
  return (JSON.parse(text) as { data: Data }).data;
}
