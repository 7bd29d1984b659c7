import { Client } from 'pg';
import { BOOK_FIELD_TYPES, FIELD_NAMES } from '../../src/book/contract.ts';
import * as postgresTable from '../../src/store/postgres/books-table.ts';
import { MIGRATIONS as POSTGRES_MIGRATIONS } from '../../src/store/postgres/migrations.ts';
import * as sqliteTable from '../../src/store/sqlite/books-table.ts';
import { openConnection } from '../../src/store/sqlite/files/connection.ts';
import { transact } from '../../src/store/sqlite/files/transactions.ts';
import { MIGRATIONS as SQLITE_MIGRATIONS } from '../../src/store/sqlite/migrations.ts';

const ADD_LANGUAGE = "alter table books add column language text not null default 'en'";

/** What a version of the service changes whose books have a language, until disposed. @param rest a statement behind that of the column */
export function furtherMigration(rest = 'select 1'): Disposable {
  const adds = 'language';
  const lists: object[][] = [SQLITE_MIGRATIONS as object[], POSTGRES_MIGRATIONS as object[]];
  lists[0]?.push({ adds, sql: `${ADD_LANGUAGE}; ${rest}` });
  lists[1]?.push({ adds, statements: [{ sql: ADD_LANGUAGE }, { sql: rest }] });
  const checks = [sqliteTable.AFFINITIES, postgresTable.TYPES] as Record<string, readonly string[]>[];
  for (const columns of checks) columns[adds] = columns.title ?? [];
  Object.assign(BOOK_FIELD_TYPES, { [adds]: 'text' });
  (FIELD_NAMES as string[]).push(adds);
  return {
    [Symbol.dispose]() {
      for (const migrations of lists) migrations.pop();
      for (const columns of checks) delete columns[adds];
      delete (BOOK_FIELD_TYPES as Record<string, string>)[adds];
      FIELD_NAMES.pop();
    },
  };
}

/** Does with the store at a `DB_URL` what a start does before anything else. */
export async function prepareTablesAt(dbUrl: string): Promise<void> {
  if (dbUrl.startsWith('sqlite:')) {
    const database = await openConnection(dbUrl.slice('sqlite:'.length), sqliteTable.expectBooksIfAny);
    try {
      await transact(database, () => sqliteTable.prepareTables(database));
    } finally {
      database.close();
    }
    return;
  }
  const client = new Client(dbUrl);
  await client.connect();
  try {
    await postgresTable.prepareTables(client);
  } finally {
    await client.end();
  }
}
