import type { ClientBase } from 'pg';
import { COUNTED_MAX, countInWords } from '../inspection.ts';
import { StoreNotReady } from '../not-ready.ts';
import type { Conninfo } from './conninfo.ts';
import { reasonOf } from './errors.ts';
import { expectBooks, expectUtf8 } from './schema.ts';
import { Servers } from './servers.ts';

/**
 * Looks at a PostgreSQL database, and changes nothing in it.
 *
 * @returns what is there, in a few words for people
 * @throws StoreNotReady when a service could not use it
 */
export async function inspectPostgresStore(conninfo: Conninfo): Promise<string> {
  const { client } = await Servers.find(conninfo);
  try {
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
    if (!state?.mayCreate)
      throw new StoreNotReady('there is no table books, and this user may not create one');
    return 'the PostgreSQL database has no table of books yet, and will get one';
  }
  await expectBooks(client);
  const lacking = PRIVILEGES.filter((privilege) => !state.privileges.includes(privilege));
  if (lacking.length > 0)
    throw new StoreNotReady(`this user may not ${lacking.join(', ')} in the table books`);
  const counted = await client.query<{ count: number }>(
    `select count(*) as count from (select 1 from books limit ${COUNTED_MAX + 1}) as books`,
  );
  return `the PostgreSQL database has ${countInWords(counted.rows[0]?.count ?? 0)}`;
}

interface State {
  readonly hasBooks: boolean;
  readonly mayCreate: boolean | null;
  readonly privileges: readonly string[];
}

/** What a service does with books. */
const PRIVILEGES = ['select', 'insert', 'update', 'delete'];

const STATE = `
  select to_regclass('books') is not null as "hasBooks",
    has_schema_privilege(current_schema(), 'create') as "mayCreate",
    array(
      select privilege from unnest(array['${PRIVILEGES.join("', '")}']) as privilege
      where has_table_privilege(to_regclass('books'), privilege)
    ) as privileges
`;
