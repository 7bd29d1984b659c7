import { Client } from 'pg';
import { query } from '../testkit/sql.ts';

/**
 * Runs the engine's own integrity checks, on a separate connection, while the service runs.
 *
 * @returns the damage that they report, a sentence each
 */
export async function inspectStore(dbUrl: string): Promise<string[]> {
  return dbUrl.startsWith('sqlite:') ? inspectSqlite(dbUrl) : inspectPostgres(dbUrl);
}

async function inspectSqlite(dbUrl: string): Promise<string[]> {
  const reports = (await query(dbUrl, 'pragma integrity_check')).map((row) => String(row.integrity_check));
  const damage = reports.filter((report) => report !== 'ok');
  return damage.map((report) => `SQLite reports damage of its file: ${report}`);
}

/** Reads every row completely, and checks table and index when the server has the extension amcheck. */
async function inspectPostgres(url: string): Promise<string[]> {
  const client = new Client(url);
  await client.connect();
  try {
    await client.query(
      'set enable_indexscan = off; set enable_indexonlyscan = off; set enable_bitmapscan = off',
    );
    await client.query('select sum(octet_length(title) + octet_length(author) + year) from books');
    const { rowCount } = await client.query(`select 1 from pg_available_extensions where name = 'amcheck'`);
    if (rowCount === 0) return [];
    await client.query('create extension if not exists amcheck');
    await client.query(
      `select bt_index_check(indexrelid, true) from pg_index where indrelid = 'books'::regclass`,
    );
    const damage = await client.query<{ blkno: number; msg: string }>(`select * from verify_heapam('books')`);
    return damage.rows.map(
      ({ blkno, msg }) => `PostgreSQL reports damage of block ${blkno} of its table: ${msg}`,
    );
  } catch (error) {
    return [`PostgreSQL cannot read its table: ${String(error)}`];
  } finally {
    await client.end();
  }
}
