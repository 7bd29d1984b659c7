import { Client } from 'pg';
import { BOOKS, makeBooks } from '../books.ts';
import type { BookTable } from './table.ts';

/** Opens the table that a service has created in its PostgreSQL database. */
export async function openPostgresTable(url: string): Promise<BookTable> {
  const client = new Client(url);
  await client.connect();
  const books = makeBooks(BOOKS, 0);
  await client.query(
    'create temp table seed as select * from unnest($1::text[], $2::text[], $3::int[]) with ordinality as book (title, author, year, id)',
    [books.map(({ title }) => title), books.map(({ author }) => author), books.map(({ year }) => year)],
  );
  await client.query('analyze seed');
  return {
    async fill(count) {
      await client.query('truncate books');
      await client.query(
        `insert into books (id, title, author, year)
         select copy * ${BOOKS} + seed.id, title, author, year
         from generate_series(0, ($1::int - 1) / ${BOOKS}) as copy cross join seed
         where copy * ${BOOKS} + seed.id <= $1
         order by 1`,
        [count],
      );
      await client.query(
        `select setval(pg_get_serial_sequence('books', 'id'), greatest($1, nextval(pg_get_serial_sequence('books', 'id'))))`,
        [count],
      );
      // Otherwise autovacuum and the checkpointer could run during the measurement.
      await client.query('vacuum analyze books');
      await client.query('checkpoint');
    },
    async [Symbol.asyncDispose]() {
      await client.end();
    },
  };
}

/** Creates an empty database on a server. @returns its URL */
export async function createDatabase(server: string, name: string): Promise<string> {
  const client = new Client(server);
  await client.connect();
  try {
    await client.query(`create database ${name}`);
  } finally {
    await client.end();
  }
  return Object.assign(new URL(server), { pathname: name }).href;
}
