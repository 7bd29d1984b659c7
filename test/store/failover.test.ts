import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { StoreUnavailable } from '../../src/book/book-store.ts';
import { parseLog } from '../../testkit/log.ts';
import { type Cluster, createDatabase, startCluster } from '../../testkit/postgres.ts';
import { Relay } from '../../testkit/relay.ts';
import { type Service, startService } from '../../testkit/service.ts';
import { query } from '../../testkit/sql.ts';
import { addStandby, type Standby } from '../../testkit/standby.ts';
import { assertNotReady, listBooks, openStoreAt } from '../../testkit/stores.ts';
import { withPort } from '../../testkit/with-port.ts';

const DUNE = { title: 'Dune', author: 'Frank Herbert', year: 1965 };

const timeout = 600_000;

describe('A store whose address leads to another server', { timeout }, () => {
  let primary: Cluster;
  let standby: Standby;
  let url: string;

  before(async () => {
    primary = await startCluster();
    ({ url } = await createDatabase({ server: primary.url }));
    standby = await addStandby(primary);
    await using store = await openStoreAt(url);
    await store.create(DUNE);
  });

  after(async () => {
    await standby.cluster[Symbol.asyncDispose]();
    await primary[Symbol.asyncDispose]();
  });

  test('retries a write on a new connection after the server was read-only', async () => {
    const name = new URL(url).pathname.slice(1);
    await query(url, `alter database ${name} set default_transaction_read_only = on`);
    await using store = await openStoreAt(url);
    await assert.rejects(store.create(DUNE), new StoreUnavailable('25006'));
    await store.find(1);
    await query(primary.url, `alter database ${name} reset default_transaction_read_only`);
    const { id } = await store.create(DUNE);
    assert.equal(await store.delete(id), true);
  });

  test('does not open on a standby, and reports why', async () => {
    await assertNotReady(
      withPort(url, standby.cluster.port),
      new RegExp(
        `^PostgreSQL \\(host 127.0.0.1, port ${standby.cluster.port}, .*is a standby: give the address`,
      ),
    );
  });

  test('reads nothing from a standby, and continues on the primary without a restart', async () => {
    await using relay = await Relay.open(primary.port);
    await using store = await openStoreAt(withPort(url, relay.port));
    assert.equal((await store.find(1))?.title, 'Dune');
    relay.target = standby.cluster.port;
    relay.forget();
    await rejection(() => store.find(1), 'the server is a standby');
    await assert.rejects(store.create(DUNE), new StoreUnavailable('the server is a standby'));
    relay.target = primary.port;
    assert.equal((await store.find(1))?.title, 'Dune');
  });

  // The standby is promoted from here on.
  test('repeats a write that the former primary rejected, without a failed call, and the cursors of changes stay valid', async () => {
    await using relay = await Relay.open(primary.port);
    const dbUrl = withPort(url, relay.port);
    await using store = await openStoreAt(dbUrl);
    await using service = await startService({ dbUrl, hasHistory: true });
    await service.fetch('PUT', '/book/1', '{"year":1966}');
    const next = await nextChanges(service, '/changes');
    assert.equal((await listBooks(store)).length, 1);

    await query(primary.url, 'alter system set default_transaction_read_only = on');
    await query(primary.url, 'select pg_reload_conf()');
    const setting = 'show default_transaction_read_only';
    while ((await query(primary.url, setting))[0]?.default_transaction_read_only !== 'on');
    await standby.promote();
    relay.target = standby.cluster.port;
    await store.create({ ...DUNE, title: 'Dune Messiah' });
    const titles = await query(withPort(url, standby.cluster.port), 'select title from books order by id');
    assert.deepEqual(
      titles.map(({ title }) => title),
      ['Dune', 'Dune Messiah'],
    );
    assert.equal((await service.fetch('PUT', '/book/1', '{"year":1967}')).status, 200);
    while ((await service.fetch('GET', next.path)).status === 503);
    assert.deepEqual((await nextChanges(service, next.path)).titles, ['Dune Messiah', 'Dune']);
    assert.deepEqual(
      parseLog(service.log).filter(({ level }) => level > 30),
      [],
    );
  });
});

/** Reads a page of changes. @returns the path of the next page, and the titles of the books */
async function nextChanges(service: Service, path: string) {
  const response = await service.fetch('GET', path);
  const { data } = (await response.json()) as { data: { book: { title: string } }[] };
  const [, next = ''] = /^<(.*)>/.exec(response.headers.get('link') ?? '') ?? [];
  return { path: next, titles: data.map(({ book }) => book.title) };
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
