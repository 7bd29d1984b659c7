import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Book } from '../../src/book/contract.ts';
import { parseLog } from '../../testkit/log.ts';
import { createDatabase, type Database } from '../../testkit/postgres.ts';
import { type Service, startService } from '../../testkit/service.ts';

/** The attempts of the service. */
const ATTEMPTS = 5;

/** SQLSTATEs after which a statement can be retried: a failure to serialize, and a deadlock. */
const STATES = ['40001', '40P01'];

const CHANGED = JSON.stringify({ title: 'Gormenghast' });

/** Requests, their statuses, and the numbers of books after them; before, there is one. */
const CALLS: readonly (readonly [start: string, status: number, count: number, ...rest: Sent])[] = [
  ['POST /book', 201, 2, CHANGED],
  ['POST /book', 201, 2, CHANGED, { 'Idempotency-Key': 'once' }],
  ['POST /books', 201, 4, `[${CHANGED},${CHANGED},${CHANGED}]`],
  ['POST /books', 201, 4, `[${CHANGED},${CHANGED},${CHANGED}]`, { 'Idempotency-Key': 'once' }],
  ['PATCH /books', 200, 1, '[{"id":1,"title":"Gormenghast","ifMatch":"*"}]'],
  ['PATCH /books', 200, 0, '[{"id":1,"deleted":true}]'],
  ['GET /book/1', 200, 1],
  ['GET /books', 200, 1],
  ['GET /books?sort=title&limit=5', 200, 1],
  ['GET /books?q=titus&count=true', 200, 1],
  ['PUT /book/1', 200, 1, CHANGED],
  ['PUT /book/1', 200, 1, CHANGED, { 'If-Match': '*' }],
  ['DELETE /book/1', 200, 0],
  ['DELETE /book/1', 200, 0, undefined, { 'If-Match': '*' }],
];
type Sent = [body?: string | undefined, headers?: Record<string, string>];

describe('When PostgreSQL reports a serialization failure', { timeout: 300_000 }, () => {
  test('or a deadlock, the statement is retried and takes effect once', async () => {
    await using scene = await stage();
    for (const [index, [start, status, count, ...sent]] of CALLS.entries()) {
      await scene.restore();
      await scene.fail(ATTEMPTS - 1, STATES[index % 2]);
      assert.equal((await scene.send(start, ...sent)).status, status, start);
      assert.equal(await scene.failures(), ATTEMPTS - 1, start);
      assert.equal((await scene.books()).length, count, start);
    }
  });

  test('on every retry, the response is 503, and nothing is changed', async () => {
    await using scene = await stage();
    for (const [start, , , ...sent] of CALLS) {
      await scene.restore();
      const before = await scene.books();
      await scene.fail(Number.POSITIVE_INFINITY);
      assert.equal((await scene.send(start, ...sent)).status, 503, start);
      assert.equal(parseLog(scene.service.log).at(-1)?.reason, '40001', start);
      assert.ok((await scene.failures()) >= ATTEMPTS, start);
      await scene.fail(0);
      assert.deepEqual(await scene.books(), before, start);
    }
  });
});

test('The calls of one batch each happen once, however often the batch fails', async () => {
  await using scene = await stage();
  await scene.fail(ATTEMPTS - 1);
  const creates = Array.from({ length: 50 }, (_, year) => {
    const headers = year % 2 === 0 ? {} : { 'Idempotency-Key': `key-${year}` };
    return scene.send('POST /book', JSON.stringify({ year: year + 1 }), headers);
  });
  for (const { status } of await Promise.all(creates)) assert.equal(status, 201);
  const years = (await scene.books()).map(({ year }) => year);
  assert.deepEqual(
    years.toSorted((one, other) => one - other),
    Array.from({ length: 51 }, (_, year) => year),
  );
});

/**
 * A service with one book, on a database that fails on demand: a row-level policy calls a function that counts in a sequence,
 * which a rollback does not reset.
 */
async function stage(): Promise<Scene> {
  const database = await createDatabase();
  const [role] = await database.query<{ name: string }>(`select 'role_' || current_database() as name`);
  const name = role?.name ?? '';
  await database.query(`create role ${name} login password 'pass'`);
  await database.query(`grant create, usage on schema public to ${name}`);
  const address = new URL(database.url);
  Object.assign(address, { username: name, password: 'pass' });
  const service = await startService({ dbUrl: address.href });
  await service.fetch('POST', '/book', JSON.stringify({ title: 'Titus Groan' }));
  // With a built index, a search reads only the changes.
  await service.fetch('GET', '/books?q=titus');
  await database.query(INJECTION);
  return new Scene(service, database, name);
}

const INJECTION = `
  create sequence failures;
  create table failure (most double precision, state text);
  insert into failure values (0);
  create function may_pass() returns boolean language plpgsql volatile security definer as $$
    declare
      settings failure;
    begin
      select * into settings from failure;
      if settings.most > 0 and nextval('failures') <= settings.most then
        raise exception 'injected' using errcode = settings.state;
      end if;
      return true;
    end
  $$;
  create policy failing on books using (may_pass()) with check (may_pass());
  alter table books enable row level security;
  alter table books force row level security;
`;

class Scene implements AsyncDisposable {
  readonly service: Service;
  readonly #database: Database;
  readonly #role: string;

  constructor(service: Service, database: Database, role: string) {
    this.service = service;
    this.#database = database;
    this.#role = role;
  }

  /** Restores the single book. */
  async restore(): Promise<void> {
    await this.fail(0);
    await this.#database.query(`
      truncate books, idempotency_keys restart identity;
      insert into books (title, author, year) values ('Titus Groan', '', 0);
    `);
  }

  /** Makes the next statements on books fail. */
  async fail(times: number, state = '40001'): Promise<void> {
    await this.#database.query(`select setval('failures', 1, false)`);
    await this.#database.query('update failure set most = $1, state = $2', [times, state]);
  }

  /** The number of failures since then. */
  async failures(): Promise<number> {
    const [row] = await this.#database.query<{ count: number }>(
      'select least(last_value - case when is_called then 0 else 1 end, (select most from failure)) as count from failures',
    );
    return Number(row?.count);
  }

  send(start: string, body?: string, headers?: Record<string, string>): Promise<Response> {
    const [method = '', path = ''] = start.split(' ');
    return this.service.fetch(method, path, body, headers);
  }

  books(): Promise<Book[]> {
    return this.#database.query<Book>(
      'select id, title, author, year::integer as year from books order by id',
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service[Symbol.asyncDispose]();
    await this.#database.query(`drop owned by ${this.#role}; drop role ${this.#role}`);
    await this.#database[Symbol.asyncDispose]();
  }
}
