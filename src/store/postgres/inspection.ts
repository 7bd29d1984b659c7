import type { ClientBase } from 'pg';
import { StoreNotReady } from '../store-errors.ts';
import { COUNTED_MAX, formatBookCount } from '../store-limits.ts';
import { MAY_NOT_CREATE, NO_SCHEMA, readState } from './migrations.ts';
import type { Conninfo } from './pool/conninfo.ts';
import { Servers } from './pool/servers.ts';
import { expectBooks, expectPrivileges, expectUtf8 } from './schema.ts';

export async function inspectStore(conninfo: Conninfo): Promise<string> {
  let description = '';
  const inspect = async (connected: ClientBase) => {
    const { relations } = await readState(connected);
    await connected.query('begin transaction read only');
    description = await describe(connected, relations.has('books'));
  };
  const { client } = await Servers.connect(conninfo, inspect, 'inspected');
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
  await expectBooks(client);
  const counted = await client.query<{ count: number }>(
    `select count(*) as count from (select 1 from books limit ${COUNTED_MAX + 1}) as books`,
  );
  return `the PostgreSQL database has ${formatBookCount(counted.rows[0]?.count ?? 0)}`;
}
