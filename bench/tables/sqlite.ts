import { DatabaseSync } from 'node:sqlite';
import { BOOKS, makeBooks } from '../books.ts';
import type { BookTable } from './table.ts';

/** Opens the table that a service has created in its SQLite file. */
export function openSqliteTable(path: string): BookTable {
  const database = new DatabaseSync(path, { timeout: 10_000 });
  database.exec('create temp table seed (id integer primary key, title text, author text, year integer)');
  const insert = database.prepare('insert into seed values (?, ?, ?, ?)');
  for (const [index, { title, author, year }] of makeBooks(BOOKS, 0).entries())
    insert.run(index, title, author, year);
  return {
    async fill(count) {
      database.exec(`
        begin immediate;
        delete from books;
        with recursive
          copies (copy) as (select 0 union all select copy + 1 from copies where copy + 1 < ${count} / ${BOOKS}.0)
        insert into books (id, title, author, year)
          select copy * ${BOOKS} + seed.id + 1, title, author, year from copies cross join seed
          where copy * ${BOOKS} + seed.id < ${count};
        commit;
        pragma wal_checkpoint(truncate);
      `);
    },
    async [Symbol.asyncDispose]() {
      database.close();
    },
  };
}
