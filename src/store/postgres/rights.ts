import type { ClientBase } from 'pg';
import { StoreNotReady } from '../errors.ts';
import { MIGRATIONS_TABLE } from '../schema-version.ts';

/** A connection to a database. */
export type Client = ClientBase;

/** Verifies the rest of a start on the connection of it, without changing anything. @throws StoreNotReady */
export type Verify = (client: Client) => Promise<void>;

/** What a part of the service needs to be allowed. */
interface Rights {
  /** Privileges on whole tables, if they are there. */
  readonly tables?: readonly string[];
  readonly privileges?: readonly string[];
  /** Privileges on the sequence of the ids. */
  readonly sequence?: readonly ('usage' | 'update')[];
  /** What it creates, besides triggers on the books. What is there of it must be of this user, or the service could not put it right. */
  readonly creates?: { readonly tables: readonly string[]; readonly functions: readonly string[] };
}

/** What the store needs; the wings need their own tables and functions. */
export const STORE_RIGHTS: Rights = {
  tables: ['books'],
  privileges: ['select', 'insert', 'update', 'delete'],
  sequence: ['usage', 'update'],
  creates: { tables: ['idempotency_keys', MIGRATIONS_TABLE], functions: [] },
};

export const READING_RIGHTS: Rights = { tables: ['books', MIGRATIONS_TABLE], privileges: ['select'] };

/** Changes nothing, and reads no table of this service. @throws StoreNotReady that lists the rights that are missing */
export async function expectRights(client: ClientBase, rights: Rights): Promise<void> {
  const { tables = [], privileges = [], sequence = [], creates } = rights;
  const owned = [creates?.tables ?? [], creates?.functions ?? []];
  const { rows } = await client.query<{ hasBooks: boolean; schema: string | null; missing: string[] }>(
    SELECT_MISSING,
    [tables, privileges, sequence, creates !== undefined, ...owned],
  );
  const { hasBooks = true, schema, missing = [] } = rows[0] ?? {};
  if (!hasBooks && schema === null)
    throw new StoreNotReady(
      'the search_path names no schema that this user may use, and so there is no table books',
    );
  if (missing.length === 0) return;
  if (!hasBooks && missing.some((right) => right.startsWith('create tables')))
    throw new StoreNotReady('there is no table books, and this user may not create one');
  throw new StoreNotReady(`this user may not ${missing.join('; ')}`);
}

/** Tables are created in the current schema, those of the wings in that of the books. */
const SELECT_MISSING = `
  select books is not null as "hasBooks", current_schema() as schema,
    array(
      select string_agg(privilege, ', ' order by nth) || ' in the table ' || name
      from unnest($1::text[]) as name cross join unnest($2::text[]) with ordinality as wanted (privilege, nth)
      where not has_table_privilege(to_regclass(name), privilege)
      group by name order by name
    ) || array(
      select 'create triggers on the table books' where $4 and not has_table_privilege(books, 'trigger')
    ) || array(
      select case privilege when 'usage' then 'use' else 'set' end || ' the sequence of the ids of the table books'
      from unnest($3::text[]) as privilege join pg_attribute on attrelid = books and attname = 'id'
      where not has_sequence_privilege(pg_get_serial_sequence(books::text, attname), privilege)
    ) || array(
      select 'create tables in the schema ' || nspname from pg_namespace
      where $4 and not has_schema_privilege(oid, 'create')
        and (nspname = current_schema() or oid = (select relnamespace from pg_class where oid = books))
    ) || array(
      select 'alter the table ' || relname from pg_class
      where oid = any (select to_regclass(name) from unnest($5::text[]) as name) and not pg_has_role(relowner, 'usage')
      order by relname
    ) || array(
      select 'replace the function ' || proname from pg_proc
      where oid = any (select to_regproc(name) from unnest($6::text[]) as name) and not pg_has_role(proowner, 'usage')
      order by proname
    ) as missing
  from (select to_regclass('books') as books) as of_books`;
