import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createDatabase } from '../../testkit/postgres.ts';
import { CORPUS, EXAMPLES, makeBooks } from '../../testkit/search-corpus.ts';
import { startService } from '../../testkit/service.ts';
import { assertList, createBooks } from './search-responses.ts';

describe('A PostgreSQL role that cannot create tables, triggers and indexes', () => {
  test('can search', async () => {
    await using database = await createDatabase();
    await using owner = await startService({ dbUrl: database.url });
    const books = await createBooks(owner, [...CORPUS, ...makeBooks(100)]);
    const role = `reader_${database.url.split('/').at(-1)}`;
    await database.query(`create role ${role} login password 'secret'`);
    await database.query(`grant select, insert, update, delete on books to ${role}`);
    await database.query(`grant usage, select on all sequences in schema public to ${role}`);
    const dbUrl = Object.assign(new URL(database.url), { username: role, password: 'secret' }).href;
    {
      await using service = await startService({ dbUrl });
      for (const parameters of EXAMPLES.filter((_, index) => index % 5 === 0))
        await assertList(service, books, parameters);
      assert.equal((await service.fetch('POST', '/book', '{}')).status, 201);
      assert.equal(
        (await database.query("select 1 from pg_trigger where tgname like 'book_search%'")).length,
        0,
      );
    }
    await database.query(`drop owned by ${role}`);
    await database.query(`drop role ${role}`);
  });
});
