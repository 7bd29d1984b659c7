import type { ClientBase } from 'pg';
import { COUNTED_MAX, formatBookCount } from '../book-count.ts';
import { StoreNotReady } from '../store-errors.ts';
import { reasonOf } from './errors.ts';
import { MAY_NOT_CREATE, NO_SCHEMA, readState } from './migrations.ts';
import type { Conninfo } from './pool/conninfo.ts';
import { Servers } from './pool/servers.ts';
import { expectBooks, expectPrivileges, expectUtf8 } from './schema.ts';

/**
 * Looks at a PostgreSQL database, and changes nothing in it.
 *
 * @returns what is there, in a few words for people
 * @throws StoreNotReady when a service could not use it
 */
export async function inspectStore(conninfo: Conninfo): Promise<string> {
  const { client } = await Servers.find(conninfo);
  try {
    await readState(client);
    await client.query('begin transaction read only');
    return await describe(client);
  } catch (error) {
    if (error instanceof StoreNotReady) throw error;
    throw new StoreNotReady(`the table books cannot be looked at (${reasonOf(error)})`);
  } finally {
    await client.end();
  }
}

async function describe(client: ClientBase): Promise<string> {
  await expectUtf8(client);
  const { rows } = await client.query<State>(STATE);
  const [state] = rows;
  if (!state?.hasBooks) {
    if (!state || state.mayCreate === null) throw new StoreNotReady(NO_SCHEMA);
    if (!state.mayCreate) throw new StoreNotReady(MAY_NOT_CREATE);
    return 'the PostgreSQL database has no table of books yet, and will get one';
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
  /** Null where there is no schema to create it in. */
  readonly mayCreate: boolean | null;
}

const STATE = `
  select to_regclass('books') is not null as "hasBooks",
    has_schema_privilege(current_schema(), 'create') as "mayCreate"
`;
