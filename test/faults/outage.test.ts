import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Book } from '../../src/book/contract.ts';
import { createDatabase, startCluster } from '../../testkit/postgres.ts';
import { type Service, startService } from '../../testkit/service.ts';
import { sendRequest } from './send-request.ts';

test('when PostgreSQL crashes while the id sequence advances past ids used by others, requests get 503, and succeed afterwards', async () => {
  await using cluster = await startCluster();
  const { url } = await createDatabase({ server: cluster.url });
  await using service = await startService({ dbUrl: url });
  const other = new Client(url);
  other.on('error', () => {});
  await other.connect();
  await other.query(
    `insert into books (id, title, author, year) select id, '', '', 0 from generate_series(1, 5) as ids (id)`,
  );
  // This transaction blocks locks on the table.
  await other.query(`begin; insert into books (id, title, author, year) values (99, '', '', 0)`);

  const created = createWithRetries(service);
  await waiting(url, 'lock table%');
  await cluster.stop('kill');
  await cluster.start();
  // After a crash, a sequence may skip numbers, but does not repeat any.
  assert.ok((await created).id > 5);
});

/** Creates a book, and retries after 503. */
async function createWithRetries(service: Service): Promise<Book> {
  for (;;) {
    const { status, data } = await sendRequest(service, 'POST', '/book', '{}');
    if (status === 201) return data as Book;
    assert.equal(status, 503);
    await sleep(50);
  }
}

/** Resolves when a statement waits for a lock. */
async function waiting(url: string, statement: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  const sql = `select 1 from pg_stat_activity where query like $1 and wait_event_type = 'Lock'`;
  while ((await client.query(sql, [statement])).rowCount === 0);
  await client.end();
}
