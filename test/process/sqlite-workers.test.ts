import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import {
  createBook,
  type Envelope,
  listTitles,
  type ServiceProcess,
  send,
} from '../../testkit/service-process.ts';
import { findViolation, type Operation } from '../faults/history.ts';
import { startTwoWorkers, type TwoWorkers, waitForProcesses } from './worker-processes.ts';

describe('Two workers on one SQLite file', () => {
  let workers: TwoWorkers;
  before(async () => {
    workers = await startTwoWorkers('SQLite');
  });
  after(() => workers[Symbol.asyncDispose]());

  test('read and write a book linearizably', async () => {
    const { service, token } = workers;
    const id = await createBook(service, token, 'Dune');
    const history: Operation[] = [];
    const client = async (number: number) => {
      for (let call = 0; call < CALLS; call++) {
        const isWrite = (number + call) % 3 === 0;
        const body = isWrite ? JSON.stringify({ year: 1 + number * CALLS + call }) : null;
        const start = performance.now();
        // Each connection is of the other worker.
        const { data } = await send(service, isWrite ? 'PUT' : 'GET', `/book/${id}`, { token, body });
        const { year } = data as { year: number };
        history.push({ kind: isWrite ? 'write' : 'read', value: year, start, end: performance.now() });
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
    assert.equal(findViolation(history, 0), undefined);
  });

  test('create one book for concurrent requests with one idempotency key', async () => {
    const { service, token } = workers;
    for (const key of ['one', 'two', 'three']) {
      const created = await Promise.all(Array.from({ length: 20 }, () => createOnce(service, token, key)));
      assert.deepEqual(new Set(created.map(({ status }) => status)), new Set([201]));
      assert.equal(new Set(created.map(({ data }) => JSON.stringify(data))).size, 1);
    }
    const titles = [...(await listTitles(service, token)).values()];
    for (const key of ['one', 'two', 'three'])
      assert.equal(titles.filter((title) => title === key).length, 1);
    const changed = await createOnce(service, token, 'one', 'another title');
    assert.deepEqual([changed.status, changed.message], [422, 'Idempotency key reused']);
  });

  test('create and delete many books, and never reuse an id', async () => {
    const { service, token } = workers;
    const body = JSON.stringify(Array.from({ length: 500 }, (_, index) => ({ title: `Kraków ${index}` })));
    const pages = await Promise.all([1, 2, 3, 4].map(() => send(service, 'POST', '/books', { token, body })));
    const ids = pages.flatMap(({ data }) => (data as { id: number }[]).map(({ id }) => id));
    assert.equal(new Set(ids).size, 2_000);
    const last = Math.max(...ids);
    for (const status of [200, 404]) {
      assert.equal((await send(service, 'DELETE', `/book/${last}`, { token })).status, status);
    }
    assert.ok((await createBook(service, token, 'Dune')) > last);
  });

  test('change many books, all or none', async () => {
    const { service, token } = workers;
    const body = JSON.stringify(Array.from({ length: 500 }, () => ({ title: 'Dune' })));
    const { data } = await send(service, 'POST', '/books', { token, body });
    const ids = (data as { id: number }[]).map(({ id }) => id);
    const changes = Array.from({ length: 12 }, (_, call) => {
      const order = call % 2 === 0 ? ids : ids.toReversed();
      return JSON.stringify(order.map((id) => ({ id, title: `Dune ${call}` })));
    });
    const patch = (content: string) => send(service, 'PATCH', '/books', { token, body: content });
    const responses = await Promise.all(changes.map(patch));
    assert.ok(responses.every(({ status }) => status === 200));
    const titles = async () => {
      const all = await listTitles(service, token);
      return ids.flatMap((id) => all.get(id) ?? []);
    };
    assert.equal(new Set(await titles()).size, 1);
    const deletions = ids.map((id) => ({ id, deleted: true }));
    const absent = JSON.stringify([...deletions, { id: 999_999, deleted: true }]);
    assert.equal((await patch(absent)).status, 404);
    assert.equal((await titles()).length, 500);
    assert.equal((await patch(JSON.stringify(deletions))).status, 200);
    assert.deepEqual(await titles(), []);
  });
});

describe('Two other workers on one SQLite file', { concurrency: 2 }, () => {
  test('keep every acknowledged book when a worker is killed', async () => {
    await using workers = await startTwoWorkers('SQLite');
    const { service, token, pids } = workers;
    const acknowledged = new Map<number, string>();
    const ending = new AbortController();
    const clients = Array.from({ length: CLIENTS }, async (_, number) => {
      for (let volume = 0; !ending.signal.aborted; volume++) {
        const title = `${number}, volume ${volume}`;
        // Requests of the killed worker get no response.
        const id = await createBook(service, token, title).catch(() => undefined);
        if (id !== undefined) acknowledged.set(id, title);
      }
    });
    while (acknowledged.size < 50) await new Promise(setImmediate);
    process.kill(pids[0] ?? 0, 'SIGKILL');
    await waitForProcesses(service.url, 2);
    const expected = new Map(acknowledged);
    const stored = await listTitles(service, token);
    for (const [id, title] of expected) assert.equal(stored.get(id), title);
    ending.abort();
    // A connection that was given to the killed worker ends with the primary.
    const { code } = await service.stop();
    await Promise.all(clients);
    assert.equal(code, 0);
  });

  test('exit with 1 when the file is replaced', async () => {
    await using workers = await startTwoWorkers('SQLite');
    const { service, dbUrl } = workers;
    const path = dbUrl.slice('sqlite:'.length);
    await rename(path, `${path}.old`);

    // The output closes when all workers have exited.
    const { code, complaints, output } = await service.ended();
    assert.equal(code, 1);
    assert.match(
      complaints,
      /\nbookkeeping: stopping: the file \S+ was deleted or replaced under the service\n$/,
    );
    assert.equal(output.match(/"msg":"the store is lost"/g)?.length, 1);
  });
});

const CLIENTS = 6;
const CALLS = 40;

/** Creates a book with an idempotency key, on a new connection. */
async function createOnce(service: ServiceProcess, token: string, key: string, title = key) {
  const headers = { connection: 'close', authorization: token, 'idempotency-key': key };
  const body = JSON.stringify({ title });
  const response = await fetch(`${service.url}/book`, { method: 'POST', headers, body });
  return (await response.json()) as Envelope;
}
