import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createClientWith } from '../../client/client.ts';
import {
  type BookChange,
  ChangesRemovedError,
  createClient,
  NoResponseError,
  RefusedError,
} from '../../client/index.ts';
import { DEPENDENCIES } from '../../client/retries.ts';
import { engines } from '../../testkit/engines.ts';
import { PASSWORD, type Service, startService, USERNAME } from '../../testkit/service.ts';
import { query } from '../../testkit/sql.ts';
import { hasty } from './clients.ts';
import { ScriptedServer } from './scripted-server.ts';

const clientOf = ({ url }: Pick<Service, 'url'>) =>
  createClient({ url, username: USERNAME, password: PASSWORD, attemptsMax: 2 });

/** Forwards connections to a port of this machine, or closes them while there is none. */
async function openGate(target: number) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    if (gate.target === undefined) {
      gate.refused++;
      socket.destroy();
      return;
    }
    const connection = connect(gate.target, 'localhost');
    connection.on('error', () => socket.destroy());
    socket.pipe(connection).pipe(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const gate = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target: target as number | undefined,
    refused: 0,
    [Symbol.dispose]: () => void server.close(),
  };
  return gate;
}

async function take(changes: AsyncIterable<BookChange>, count: number): Promise<BookChange[]> {
  const taken: BookChange[] = [];
  for await (const change of changes) if (taken.push(change) === count) break;
  return taken;
}

const describeChanges = (changes: readonly BookChange[]) =>
  changes.map(({ type, book }) => `${type} ${book.title}`);

test('A client whose timeout is too short for the service to wait requests changes once a second', async () => {
  const none = { status: 200, data: [] };
  const change = { cursor: '1', type: 'created', book: { id: 1, title: 'Emma', author: '', year: 0 } };
  await using server = await ScriptedServer.start([none, none, { status: 200, data: [change] }]);
  const { client, waits } = hasty(server, { timeoutMs: 1_900 });
  assert.deepEqual(await take(client.changes(), 1), [change]);
  assert.deepEqual(waits, [1_000, 1_000]);
  assert.equal(server.requests[2]?.path, '/changes?limit=1000&wait=0');
});

test('A follower requests changes once a second also while the clock of the machine is set', async () => {
  const none = { status: 200, data: [] };
  for (const hours of [1, -1]) {
    await using server = await ScriptedServer.start([none, none, { status: 410 }]);
    const waits: number[] = [];
    let clock = Date.now();
    const dependencies = {
      ...DEPENDENCIES,
      now: () => (clock += hours * 3_600_000),
      monotonicNow: () => 0,
      sleep: async (milliseconds: number) => void waits.push(milliseconds),
    };
    const client = createClientWith(dependencies, { url: server.url, token: 'any', timeoutMs: 1_900 });
    await assert.rejects(take(client.changes(), 1), ChangesRemovedError);
    assert.deepEqual(waits, [1_000, 1_000]);
  }
});

for (const engine of engines) {
  describe(`A client that follows the changes on ${engine.name}`, () => {
    test('gets those before and after it waits, from a cursor on, until it is aborted', async () => {
      await using service = await startService({ engine: engine.name, hasHistory: true });
      const books = clientOf(service);
      const { id } = await books.create({ title: 'Emma' });
      const [first] = await take(books.changes(), 1);
      assert.deepEqual(first?.book, { id, title: 'Emma', author: '', year: 0 });
      const controller = new AbortController();
      const following = take(books.changes({ after: first?.cursor, signal: controller.signal }), 3);
      await books.update(id, { title: 'EMMA' });
      await books.delete(id);
      await books.restore(id);
      assert.deepEqual(describeChanges(await following), ['updated EMMA', 'deleted EMMA', 'created EMMA']);
      assert.equal((await Array.fromAsync(books.changes({ once: true }))).length, 4);
      const reason = new Error('enough');
      const last = (await Array.fromAsync(books.changes({ once: true }))).at(-1)?.cursor;
      const waiting = take(books.changes({ after: last, signal: controller.signal }), 1);
      controller.abort(reason);
      await assert.rejects(waiting, reason);
    });

    test('follows from now on, and lists the deleted books', async () => {
      await using service = await startService({ engine: engine.name, hasHistory: true });
      const books = clientOf(service);
      const [emma, iliad] = [
        await books.create({ title: 'Emma' }),
        await books.create({ title: 'The Iliad' }),
      ];
      const cursor = await books.newestCursor();
      for (const { id } of [emma, iliad]) await books.delete(id);
      const deleted = await Array.fromAsync(books.deletedBooks());
      assert.deepEqual(describeChanges(deleted), ['deleted The Iliad', 'deleted Emma']);
      const since = await Array.fromAsync(books.changes({ after: cursor, once: true }));
      assert.deepEqual(since, deleted.toReversed());
      await using off = await startService({ engine: engine.name });
      await assert.rejects(clientOf(off).newestCursor(), { status: 404 });
      await assert.rejects(Array.fromAsync(clientOf(off).deletedBooks()), { status: 404 });
    });

    test('reads the history of a book, and restores it', async () => {
      await using service = await startService({ engine: engine.name, hasHistory: true });
      const books = clientOf(service);
      const { id, etag } = await books.create({ title: 'Emma' });
      await assert.rejects(
        books.restore(id),
        (error) => error instanceof RefusedError && error.status === 409,
      );
      await books.delete(id);
      assert.deepEqual(describeChanges(await Array.fromAsync(books.history(id))), [
        'deleted Emma',
        'created Emma',
      ]);
      assert.equal((await books.restore(id))?.etag, etag);
      await assert.rejects(books.restoreMany([id]), { status: 409, invalidIndex: 0 });
      await books.delete(id);
      assert.deepEqual(await books.restoreMany([id]), [{ id, title: 'Emma', author: '', year: 0 }]);
      const all = await Array.fromAsync(books.lastChanges());
      assert.deepEqual(describeChanges(all).slice(0, 2), ['created Emma', 'deleted Emma']);
      const [, , before] = await Array.fromAsync(books.history(id, { after: all[1]?.cursor }));
      assert.equal(before?.cursor, all[4]?.cursor);
      assert.equal(await books.restore(99), undefined);
      await assert.rejects(Array.fromAsync(books.history(99)), RefusedError);
    });

    test('throws an error of its own when the changes after its cursor are no longer kept', async () => {
      await using address = await engine.createAddress();
      await using service = await startService({ dbUrl: address.dbUrl, hasHistory: true });
      const books = clientOf(service);
      const created = await books.createMany([{}, {}, {}]);
      assert.equal(created.length, 3);
      const [first] = await take(books.changes(), 1);
      await query(address.dbUrl, 'update book_history set removed = removed + 2');
      await assert.rejects(take(books.changes({ after: first?.cursor }), 1), ChangesRemovedError);
      assert.equal((await take(books.changes(), 1))[0]?.book.id, 3);
    });

    test('with `resumes: false` throws the error of an outage', async () => {
      await using service = await startService({ engine: engine.name, hasHistory: true });
      using gate = await openGate(service.port);
      gate.target = undefined;
      const books = createClient({ url: gate.url, token: service.token, attemptsMax: 1 });
      await assert.rejects(take(books.changes({ resumes: false }), 1), NoResponseError);
      gate.target = service.port;
      await books.create({ title: 'one' });
      assert.deepEqual(describeChanges(await take(books.changes({ resumes: false }), 1)), ['created one']);
    });

    test('resumes by itself after the service was unavailable', async () => {
      await using address = await engine.createAddress();
      const options = { dbUrl: address.dbUrl, hasHistory: true };
      const first = await startService(options);
      using gate = await openGate(first.port);
      const books = createClientWith(
        { ...DEPENDENCIES, sleep: async () => {} },
        { url: gate.url, token: first.token, attemptsMax: 1 },
      );
      const following = take(books.changes(), 3);
      await books.create({ title: 'one' });
      gate.target = undefined;
      await first[Symbol.asyncDispose]();
      await using second = await startService(options);
      await clientOf(second).create({ title: 'two' });
      while (gate.refused < 3) await setTimeout(1);
      gate.target = second.port;
      await books.create({ title: 'three' });
      assert.deepEqual(describeChanges(await following), ['created one', 'created two', 'created three']);
    });
  });
}
