import type { PoolClient } from 'pg';
import { SORT_KEY_LENGTH } from '../../../book/book-store-interface.ts';
import { FOLDING_VERSION } from '../../search/folding.ts';
import { BOOK } from '../sql.ts';

/** Raised with every change of the tables, or of the trigrams in them. */
const SCHEMA = 'schema 2';

/** The version of an index: of its tables, and of how texts are folded. It is stored as the comment of its table. */
const INDEX_VERSION = `${SCHEMA}, folding ${FOLDING_VERSION}, Unicode ${process.versions.unicode}`;

/** The schema that the books are in, and the version of the index, where all of it is there. */
const SELECT_VERSION = `
  select quote_ident(nspname) as place, (
    select obj_description(to_regclass(format('%I.book_search', nspname)), 'pg_class') from pg_trigger
    where tgrelid = pg_class.oid and tgname = 'book_search_truncate'
  ) as version
  from pg_class join pg_namespace on pg_namespace.oid = relnamespace where pg_class.oid = to_regclass('books')
`;

interface Version {
  readonly place: string;
  readonly version: string | null;
}

/** What statements are sent over: a connection, or a pool of them. */
interface Queryable {
  query(text: string, values: unknown[]): Promise<{ rows: object[] }>;
}

/**
 * Makes the index where it is missing, and makes it anew where it is of another version.
 *
 * @param transact runs statements in one transaction
 * @returns whether there are books to make one of
 */
export async function prepareIndex(
  pool: Queryable,
  transact: (run: (client: PoolClient) => Promise<void>) => Promise<void>,
): Promise<boolean> {
  const table = await selectVersion(pool);
  if (table && table.version !== INDEX_VERSION) await transact(migrate);
  return table !== undefined;
}

/** Makes the index of this version, unless another process has done so meanwhile. */
async function migrate(client: PoolClient): Promise<void> {
  // Writers queue behind it while it waits for them, so it waits for a second, and once a minute.
  await client.query("set local lock_timeout = '1s'");
  await client.query('lock table books in share row exclusive mode');
  const table = await selectVersion(client);
  if (!table || table.version === INDEX_VERSION) return;
  if (!table.version?.startsWith(`${SCHEMA},`)) await client.query(schemaOf(table.place));
  await client.query(foldAgain(table.place));
}

async function selectVersion(connection: Queryable): Promise<Version | undefined> {
  return (await connection.query(SELECT_VERSION, [])).rows[0] as Version | undefined;
}

/** A service of another version has made the index anew: this one searches without it. */
export class OtherVersion extends Error {}

/** Whether there are changes that the index does not have yet. @throws OtherVersion when it is of another version */
export async function isBehind(connection: Queryable): Promise<boolean> {
  const [state] = (await connection.query(SELECT_STATE, [])).rows as State[];
  if (state?.version !== INDEX_VERSION) throw new OtherVersion();
  return state.isBehind;
}

interface State {
  readonly isBehind: boolean;
  readonly version: string | null;
}

const SELECT_STATE = `
  select exists (select 1 from book_changes) as "isBehind",
    obj_description(to_regclass('book_search'), 'pg_class') as version
`;

/** Notes every book. The rows stay meanwhile, for searches of other processes that have begun. */
function foldAgain(place: string): string {
  return `
    select one from ${place}.book_search_lock for update;
    insert into ${place}.book_changes (first_id, last_id) values (${EVERYTHING.join(', ')});
    comment on table ${place}.book_search is '${INDEX_VERSION}';
  `;
}

/**
 * Tables of our own beside the books. Triggers note which books have changed, for whoever writes them, in the same
 * transaction: so nothing is missed that commits late. Texts are folded later, when somebody searches.
 */
function schemaOf(place: string): string {
  return `
    drop table if exists ${place}.book_search;
    create table ${place}.book_search (
      id bigint primary key,
      title_key text collate "C" not null,
      author_key text collate "C" not null,
      year bigint not null,
      bytes bigint not null,
      title_lower text collate "C" not null,
      author_lower text collate "C" not null,
      words text collate "C" not null,
      trigrams integer[] not null
    );
    create index book_search_title_asc on ${place}.book_search (title_key, id);
    create index book_search_title_desc on ${place}.book_search (title_key desc, id);
    create index book_search_author_asc on ${place}.book_search (author_key, id);
    create index book_search_author_desc on ${place}.book_search (author_key desc, id);
    create index book_search_year_asc on ${place}.book_search (year, id);
    create index book_search_year_desc on ${place}.book_search (year desc, id);
    create index book_search_trigrams on ${place}.book_search using gin (trigrams);

    create table if not exists ${place}.book_search_lock (one integer primary key);
    insert into ${place}.book_search_lock values (1) on conflict do nothing;
    create table if not exists ${place}.book_changes (
      note bigint generated always as identity primary key,
      first_id bigint not null,
      last_id bigint not null
    );
    create or replace function ${place}.note_book_changes() returns trigger
      language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $function$
    begin
      if tg_op = 'INSERT' then
        -- The ids of one statement mostly follow one another, so their ends say all.
        insert into ${place}.book_changes (first_id, last_id)
          select min(id), max(id) from added having max(id) - min(id) < 2 * count(*);
        if not found then
          insert into ${place}.book_changes (first_id, last_id) select id, id from added;
        end if;
      elsif tg_op = 'UPDATE' then
        insert into ${place}.book_changes (first_id, last_id) select id, id from removed union select id, id from added;
      elsif tg_op = 'DELETE' then
        insert into ${place}.book_changes (first_id, last_id) select id, id from removed;
      else
        insert into ${place}.book_changes (first_id, last_id) values (${EVERYTHING.join(', ')});
      end if;
      return null;
    end
    $function$;
    drop trigger if exists book_search_insert on ${place}.books;
    create trigger book_search_insert after insert on ${place}.books
      referencing new table as added for each statement execute function ${place}.note_book_changes();
    drop trigger if exists book_search_update on ${place}.books;
    create trigger book_search_update after update on ${place}.books
      referencing old table as removed new table as added for each statement execute function ${place}.note_book_changes();
    drop trigger if exists book_search_delete on ${place}.books;
    create trigger book_search_delete after delete on ${place}.books
      referencing old table as removed for each statement execute function ${place}.note_book_changes();
    drop trigger if exists book_search_truncate on ${place}.books;
    create trigger book_search_truncate after truncate on ${place}.books
      for each statement execute function ${place}.note_book_changes();
  `;
}

const EVERYTHING = ['-9223372036854775808', '9223372036854775807'] as const;

/** The statements that keep them up. */

export const TAKE_NOTES = `
  delete from book_changes where note in (select note from book_changes order by note limit $1)
  returning first_id::text as first, last_id::text as last
`;
export const LEAVE_NOTES = `
  insert into book_changes (first_id, last_id) select * from unnest($1::bigint[], $2::bigint[])
`;
export const NEXT_IDS = `
  select id::text as id, sum(bytes) over (order by id) as total
  from (
    (select id, coalesce(octet_length(title), 0) + coalesce(octet_length(author), 0) as bytes from books
      where id between $1::bigint and $2::bigint order by id limit $3)
    union all
    (select id, 0 as bytes from book_search
      where id between $1::bigint and $2::bigint and not exists (select 1 from books where books.id = book_search.id)
      order by id limit $3)
  ) as next
  order by id limit $3
`;
export const SIZES = `
  select id::text as id, sum(coalesce(octet_length(title), 0) + coalesce(octet_length(author), 0)) over (order by id) as total
  from books where id = any($1::bigint[]) order by books.id
`;
export const BOOKS_BY_ID = `select ${BOOK} from books where id = any($1::bigint[])`;
export const ADD = `
  insert into book_search (id, title_key, author_key, year, bytes, title_lower, author_lower, words, trigrams)
  select id, left(title, ${SORT_KEY_LENGTH}), left(author, ${SORT_KEY_LENGTH}), year, octet_length(title) + octet_length(author), title_lower, author_lower, words, trigrams::integer[]
  from unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[])
    as folded (id, title, author, year, title_lower, author_lower, words, trigrams)
`;
