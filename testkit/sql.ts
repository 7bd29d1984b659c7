import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';

/** Queries a database directly. Parameters are `$1`, `$2`, … on both engines. */
export async function query(
  dbUrl: string,
  text: string,
  values: readonly (string | number)[] = [],
): Promise<Record<string, unknown>[]> {
  if (dbUrl.startsWith('sqlite:')) {
    using database = new DatabaseSync(dbUrl.slice('sqlite:'.length), { timeout: 5_000 });
    return database.prepare(text.replaceAll('$', '?')).all(...values);
  }
  const client = new Client(dbUrl);
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(text, [...values]);
    return rows;
  } finally {
    await client.end();
  }
}
