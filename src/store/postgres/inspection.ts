import type { ClientBase } from 'pg';
import { COUNTED_MAX, describeMarked, formatBookCount, isMark } from '../inspection.ts';
import { expectNoOtherSpelling, expectUsable, expectUtf8 } from './books-table.ts';
import { connect } from './connection/connect.ts';
import type { Conninfo } from './connection/conninfo.ts';
import { columnsAddedAfter, readState } from './migrations.ts';

/** See `Engine.inspect`. It reads in a read-only transaction. */
export async function inspectStore(conninfo: Conninfo): Promise<string> {
  let description = '';
  const { client } = await connect(conninfo, async (connected) => {
    await connected.query('begin transaction read only');
    description = await describe(connected);
  });
  await client.end();
  return description;
}

/** Verifies what a start verifies before it changes anything. */
async function describe(client: ClientBase): Promise<string> {
  await expectUtf8(client);
  const { version, relations } = await readState(client);
  if (!relations.has('books')) {
    await expectNoOtherSpelling(client);
    return [
      'the PostgreSQL database has no table books yet; it will be created',
      ...(await describeOthers(client)),
    ].join('; ');
  }
  await expectUsable(client, columnsAddedAfter(version));
  return [
    `the PostgreSQL database has ${formatBookCount(await count(client, 'true'))}`,
    ...(await describeMarks(client)),
  ].join('; ');
}

async function count(client: ClientBase, condition: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*) as count from (select 1 from books where ${condition} limit ${COUNTED_MAX + 1}) as books`,
  );
  return rows[0]?.count ?? 0;
}

async function describeMarks(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select attname as name from pg_attribute where attrelid = to_regclass('books') and attnum > 0 and not attisdropped`,
  );
  const descriptions: string[] = [];
  for (const { name } of rows.filter((column) => isMark(column.name)))
    descriptions.push(...describeMarked(name, await count(client, `"${name}" is not null`)));
  return descriptions;
}

/** The search_path may lack the schema that is meant. */
async function describeOthers(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select string_agg(quote_ident(nspname), ', ' order by nspname) as name
     from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where relname = 'books' and relkind in ('r', 'p') having count(*) > 0`,
  );
  return rows.map(
    ({ name }) =>
      `there is one in the schema ${name}: DB_URL names a schema with ?schema=, see docs/configuration.md`,
  );
}
