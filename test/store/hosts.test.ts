import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { Client } from 'pg';
import { type BookStore, StoreUnavailable } from '../../src/book/book-store.ts';
import { findFreePort } from '../../testkit/free-port.ts';
import { parseLog } from '../../testkit/log.ts';
import { type Cluster, createDatabase, startCluster } from '../../testkit/postgres.ts';
import { Relay } from '../../testkit/relay.ts';
import { type Service, startService } from '../../testkit/service.ts';
import { addStandby, type Standby } from '../../testkit/standby.ts';
import { assertNotReady, listBooks, openStoreAt } from '../../testkit/stores.ts';
import { withHosts } from '../../testkit/with-hosts.ts';

const BY_TITLE = { sort: 'title', isDescending: false, yearFrom: 0, yearTo: 3_000 } as const;
const DUNE = { title: 'Dune', author: 'Frank Herbert', year: 1965 };

const timeout = 120_000;

describe('A store on several hosts', { timeout }, () => {
  let primary: Cluster;
  let standby: Standby;
  let url: string;

  before(async () => {
    primary = await startCluster();
    ({ url } = await createDatabase({ server: primary.url }));
    standby = await addStandby(primary);
    await using store = await openStoreAt(url);
    while (!(await hasIndex(url))) await store.search(BY_TITLE, 10);
    // This book is not in the index yet.
    await store.create(DUNE);
    // The standby replicates with a delay.
    const standbyUrl = withHosts(url, [standby.cluster.port]);
    while ((await column(standbyUrl, 'select note from book_changes')).length === 0);
  });

  after(async () => {
    await standby.cluster[Symbol.asyncDispose]();
    await primary[Symbol.asyncDispose]();
  });

  /** Opens a store with the hosts standby and primary, in this order. */
  function open(attributes?: string): Promise<BookStore> {
    const parameters = attributes === undefined ? '' : `?target_session_attrs=${attributes}`;
    return openStoreAt(`${withHosts(url, [standby.cluster.port, primary.port])}${parameters}`);
  }

  for (const attributes of [undefined, 'any', 'read-write', 'primary']) {
    test(`uses the writable host: target_session_attrs ${attributes ?? 'by default'}`, async () => {
      await using store = await open(attributes);
      const { id } = await store.create(DUNE);
      assert.equal(await store.delete(id), true);
    });
  }

  test('reads from a standby, and rejects writes, while there is no other host: target_session_attrs any', async () => {
    await using relay = await Relay.open(await findFreePort());
    await using store = await openStoreAt(
      `${withHosts(url, [standby.cluster.port, relay.port])}?target_session_attrs=any`,
    );
    assert.equal((await store.find(1))?.title, 'Dune');
    assert.equal((await listBooks(store)).length, 1);
    assert.equal((await store.search(BY_TITLE, 10)).count, 1);
    await assert.rejects(store.create(DUNE), new StoreUnavailable('25006'));
    assert.equal((await store.find(1))?.title, 'Dune');

    relay.target = primary.port;
    const { id } = await store.create(DUNE);
    assert.equal(await store.delete(id), true);
  });

  test('skips hosts that refuse connections or do not respond', async () => {
    await using silent = createServer((socket) => socket.on('error', () => {}).resume());
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const { port } = silent.address() as AddressInfo;

    await using store = await openStoreAt(withHosts(url, [await findFreePort(), port, primary.port]));
    assert.equal((await store.find(1))?.title, 'Dune');
  });

  test('connects to the next host when one fails, without a failed call', async () => {
    const relay = await Relay.open(primary.port);
    await using store = await openStoreAt(withHosts(url, [relay.port, primary.port]));
    await relay[Symbol.asyncDispose]();
    const { id } = await store.create(DUNE);
    assert.equal(await store.delete(id), true);
  });

  test('retries a write on a new connection after the server was read-only', async () => {
    const name = new URL(url).pathname.slice(1);
    await command(url, `alter database ${name} set default_transaction_read_only = on`);
    await using store = await openStoreAt(url);
    await assert.rejects(store.create(DUNE), new StoreUnavailable('25006'));
    await store.find(1);
    await command(primary.url, `alter database ${name} reset default_transaction_read_only`);
    const { id } = await store.create(DUNE);
    assert.equal(await store.delete(id), true);
  });

  test('does not open when no host is suitable, and reports the reason for each', async () => {
    const freePort = await findFreePort();
    await assertNotReady(
      withHosts(url, [freePort, standby.cluster.port]),
      new RegExp(
        `^PostgreSQL \\(host 127.0.0.1, port ${freePort}, .*cannot be reached \\(ECONNREFUSED\\); ` +
          `\\(host 127.0.0.1, port ${standby.cluster.port}, .*does not suit \\(the server only reads\\)$`,
      ),
    );
    await assertNotReady(
      `${withHosts(url, [standby.cluster.port])}?target_session_attrs=primary`,
      /does not suit \(the server is a standby\)$/,
    );
  });

  // The standby is promoted from here on.
  test('disconnects from a server that becomes read-only, also for reads, finds the promoted one and logs its address', async () => {
    await using store = await open();
    await using readWrite = await openStoreAt(`${url}?target_session_attrs=read-write`);
    await using service = await startService({
      dbUrl: withHosts(url, [standby.cluster.port, primary.port]),
      hasHistory: true,
    });
    await service.fetch('PUT', '/book/1', '{"year":1966}');
    const next = await nextChanges(service, '/changes');
    // Connections that stay open, and idle ones.
    await Promise.all([
      store.find(1),
      store.list(),
      readWrite.find(1),
      store.updateExpected({ id: 9, ...DUNE }, {}),
    ]);

    await command(primary.url, 'alter system set default_transaction_read_only = on');
    await command(primary.url, 'select pg_reload_conf()');
    for (const reader of [store, readWrite]) {
      await rejection(() => reader.find(1), 'the server only reads');
      await assert.rejects(reader.create(DUNE), StoreUnavailable);
    }
    await standby.promote();
    await success(() => store.create({ ...DUNE, title: 'Dune Messiah' }));
    assert.deepEqual(
      (await listBooks(store)).map(({ title }) => title),
      ['Dune', 'Dune Messiah'],
    );
    while ((await service.fetch('PUT', '/book/1', '{}')).status !== 200);
    // The cursors of the former primary are valid.
    while ((await service.fetch('GET', next.path)).status === 503);
    assert.deepEqual((await nextChanges(service, next.path)).titles, ['Dune Messiah']);
    const lines = parseLog(service.log).filter(({ msg }) => msg?.startsWith('the store'));
    assert.deepEqual(
      lines.map(({ level, msg }) => [level, msg]),
      [[40, `the store has moved to 127.0.0.1:${standby.cluster.port}`]],
    );
    await assert.rejects(readWrite.find(1), StoreUnavailable);

    await command(primary.url, 'alter system reset default_transaction_read_only');
    await command(primary.url, 'select pg_reload_conf()');
    await success(() => readWrite.find(1));
  });

  test('opens on the primary that was promoted last, in whatever order', async () => {
    for (const ports of [
      [primary.port, standby.cluster.port],
      [standby.cluster.port, primary.port],
    ]) {
      await using store = await openStoreAt(withHosts(url, ports));
      assert.equal((await listBooks(store)).length, 2);
    }
  });

  test('moves to the primary that was promoted last when a write on the former one gets no response', async () => {
    await using relay = await Relay.open(await findFreePort());
    await using store = await openStoreAt(withHosts(url, [primary.port, relay.port]));
    assert.equal((await listBooks(store)).length, 1);

    relay.target = standby.cluster.port;
    // The former primary waits for its standby.
    await assert.rejects(store.create(DUNE), new StoreUnavailable('timeout'));
    await success(() => store.create({ ...DUNE, title: 'Children of Dune' }));
    assert.equal((await listBooks(store)).length, 3);
  });
});

/** Reads a page of changes. @returns the path of the next page, and the titles of the books */
async function nextChanges(service: Service, path: string) {
  const response = await service.fetch('GET', path);
  const { data } = (await response.json()) as { data: { book: { title: string } }[] };
  const [, next = ''] = /^<(.*)>/.exec(response.headers.get('link') ?? '') ?? [];
  return { path: next, titles: data.map(({ book }) => book.title) };
}

async function command(url: string, sql: string): Promise<void> {
  await column(url, sql);
}

/** @returns the values of the first column */
async function column(url: string, sql: string): Promise<string[]> {
  const client = new Client(url);
  await client.connect();
  const { rows } = await client.query<string[]>({ text: sql, rowMode: 'array' });
  await client.end();
  return rows.map(([value = '']) => value);
}

/** Whether there is a search index that is up to date. */
async function hasIndex(url: string): Promise<boolean> {
  const [tables] = await column(url, `select count(*) from pg_class where relname = 'book_changes'`);
  return tables === '1' && (await column(url, 'select 1 from book_changes')).length === 0;
}

/** Repeats a call until the store rejects it as unavailable. */
async function rejection(call: () => Promise<unknown>, reason: string): Promise<void> {
  for (;;) {
    try {
      await call();
    } catch (error) {
      assert.ok(error instanceof StoreUnavailable, String(error));
      if (error.reason.includes(reason)) return;
    }
  }
}

/** Repeats a call until the store is available. */
async function success(call: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await call();
      return;
    } catch (error) {
      assert.ok(error instanceof StoreUnavailable, String(error));
    }
  }
}
