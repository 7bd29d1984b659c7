import type { ClientBase } from 'pg';
import { COUNTED_MAX, formatBookCount } from '../book-count.ts';
import { StoreNotReady } from '../store-errors.ts';
import { MAY_NOT_CREATE, NO_SCHEMA, readState } from './migrations.ts';
import type { Conninfo } from './pool/conninfo.ts';
import { Servers } from './pool/servers.ts';
import { expectBooks, expectPrivileges, expectUtf8 } from './schema.ts';

/**
 * Inspects a PostgreSQL database without changing it.
 *
 * @returns a phrase that describes it
 * @throws StoreNotReady when a service could not use it
 */
export async function inspectStore(conninfo: Conninfo): Promise<string> {
  let description = '';
  const inspect = async (connected: ClientBase) => {
    await readState(connected);
    await connected.query('begin transaction read only');
    description = await describe(connected);
  };
  const { client } = await Servers.connect(conninfo, inspect, 'inspected');
  await client.end();
  return description;
}

async function describe(client: ClientBase): Promise<string> {
  await expectUtf8(client);
  const { rows } = await client.query<State>(STATE);
  const [state] = rows;
  if (!state?.hasBooks) {
    if (!state || state.mayCreate === null) throw new StoreNotReady(NO_SCHEMA);
    if (!state.mayCreate) throw new StoreNotReady(MAY_NOT_CREATE);
    return 'the PostgreSQL database has no table books yet; it will be created';
  }
  await expectPrivileges(client);
  await expectBooks(client);
  const counted = await client.query<{ count: number }>(
    `select count(*) as count from (select 1 from books limit ${COUNTED_MAX + 1}) as books`,
  );
  return `the PostgreSQL database has ${formatBookCount(counted.rows[0]?.count ?? 0)}`;
}

interface State {
  readonly hasBooks: boolean;
  /** Null if no schema exists to create it in. */
  readonly mayCreate: boolean | null;
}

const STATE = `
  select to_regclass('books') is not null as "hasBooks",
    has_schema_privilege(current_schema(), 'create') as "mayCreate"
`;
