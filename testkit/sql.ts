import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { Client, type QueryResultRow } from 'pg';

/** Queries a database directly. Parameters are `$1`, `$2`, … on both engines. */
export async function query<Row extends QueryResultRow = Record<string, unknown>>(
  dbUrl: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  if (dbUrl.startsWith('sqlite:')) {
    using database = new DatabaseSync(dbUrl.slice('sqlite:'.length), { timeout: 60_000 });
    return database.prepare(text.replaceAll('$', '?')).all(...(values as SQLInputValue[])) as Row[];
  }
  const client = new Client(dbUrl);
  await client.connect();
  try {
    const { rows } = await client.query<Row>(text, [...values]);
    return rows;
  } finally {
    await client.end();
  }
}
