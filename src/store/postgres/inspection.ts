import type { ClientBase } from 'pg';
import { StoreNotReady } from '../errors.ts';
import { COUNTED_MAX, describeMarked, formatBookCount } from '../inspection.ts';
import { connect } from './connection/connect.ts';
import type { Conninfo } from './connection/conninfo.ts';
import { MAY_NOT_CREATE, NO_SCHEMA, readState } from './migrations.ts';
import { expectBooks, expectPrivileges, expectRights, expectUtf8 } from './schema.ts';

export async function inspectStore(conninfo: Conninfo): Promise<string> {
  let description = '';
  const inspect = async (connected: ClientBase) => {
    const { relations } = await readState(connected);
    await connected.query('begin transaction read only');
    description = await describe(connected, relations.has('books'));
  };
  const { client } = await connect(conninfo, inspect);
  await client.end();
  return description;
}

async function describe(client: ClientBase, hasBooks: boolean): Promise<string> {
  await expectUtf8(client);
  if (!hasBooks) {
    const { rows } = await client.query<{ mayCreate: boolean | null }>(
      `select has_schema_privilege(current_schema(), 'create') as "mayCreate"`,
    );
    const mayCreate = rows[0]?.mayCreate ?? undefined;
    if (mayCreate === undefined) throw new StoreNotReady(NO_SCHEMA);
    if (!mayCreate) throw new StoreNotReady(MAY_NOT_CREATE);
    return 'the PostgreSQL database has no table books yet; it will be created';
  }
  await expectPrivileges(client);
  await expectRights(client);
  await expectBooks(client);
  return [
    `the PostgreSQL database has ${formatBookCount(await count(client, 'true'))}`,
    ...describeMarked(await countMarked(client)),
  ].join('; ');
}

async function count(client: ClientBase, condition: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*) as count from (select 1 from books where ${condition} limit ${COUNTED_MAX + 1}) as books`,
  );
  return rows[0]?.count ?? 0;
}

async function countMarked(client: ClientBase): Promise<number> {
  const { rows } = await client.query(
    `select 1 from pg_attribute where attrelid = to_regclass('books') and attname = 'deleted_at' and not attisdropped`,
  );
  return rows.length > 0 ? count(client, 'deleted_at is not null') : 0;
}
