import { hash } from 'node:crypto';
import type { PoolClient, QueryResult } from 'pg';
import { createTriggers, hasTriggers, quoteLiteral } from '../../changes/postgres/triggers.ts';
import { FIELD_LIST } from '../../store/each-field.ts';
import { exact, HAS_EXACT_ID, textBytes } from '../../store/postgres/book-columns.ts';
import { means } from '../../store/postgres/error-codes.ts';
import { END_IF_IDLE } from '../../store/postgres/id-sequence.ts';
import { COMPARED_LENGTH } from '../folding.ts';
import { indexVersion } from '../index-version.ts';
import { INDEX_WAITS_MS, notPrepared, UnusableIndex } from '../index-wait.ts';
import { createEntries, ENTRIES } from './id-ranges.ts';
import { CLEAR_POSITIONS, counting, createPositions, Positions } from './positions.ts';

/**
 * Stored as the comment of the table of the index. Increment the schema with every change of the tables or of the trigrams. Until
 * schema 4 the queue was the table `book_changes`.
 */
const INDEX_VERSION = indexVersion(10);

/**
 * The schema of the books, and the version of the index: all of one snapshot, unlike `to_regclass`, which already finds a table whose
 * comment the snapshot does not have.
 */
const SELECT_TABLE = `
  select quote_ident(nspname) as schema, comment as version,
    (index.oid is not null and comment is null) or exists (
      select 1 from pg_proc
      where pronamespace = pg_namespace.oid and proname = 'note_book_changes' and prosrc !~ 'book_(search_queue|changes)'
        and (comment is null or prorettype <> 'trigger'::regtype)
    ) or exists (
      select 1 from pg_class as positions
      where positions.relnamespace = pg_namespace.oid and positions.relname = 'book_search_positions'
        and not exists (select 1 from pg_attribute where attrelid = positions.oid and attname = 'number_key')
    ) as "isForeign"
  from pg_class as books join pg_namespace on pg_namespace.oid = books.relnamespace
    left join pg_class as index on index.relnamespace = pg_namespace.oid and index.relname = 'book_search'
    cross join lateral (
      select substring(obj_description(index.oid, 'pg_class') from '^schema \\d+, folding .*') as comment
    ) as described
  where books.oid = to_regclass('books')
`;

interface Table {
  readonly schema: string;
  readonly version: string | null;
  /** Whether another program has created a table or a function with the name of ours. */
  readonly isForeign: boolean;
}

interface Queryable {
  query(text: string, values: unknown[]): Promise<{ rows: object[] }>;
}

/**
 * Creates the index, or rebuilds it if it is older than this version, or if what records changes is not what this version creates.
 *
 * @param read runs a function on a connection that gives up an unreachable server in time
 * @param write runs one that begins a transaction, and commits it
 * @throws UnusableIndex
 */
export async function prepareIndex(read: Run, write: Run): Promise<void> {
  let isOutdated = false;
  await read(async (client) => {
    await client.query('begin');
    isOutdated = (await selectOutdated(client)) !== undefined;
    await client.query('commit');
  });
  if (isOutdated) await write(migrate);
}

type Run = (run: (client: PoolClient) => Promise<void>) => Promise<void>;

/** Whether there is an index of any version. */
export async function hasIndex(pool: Queryable): Promise<boolean> {
  const { rows } = await pool.query("select 1 where to_regclass('book_search_lock') is not null", []);
  return rows.length > 0;
}

/** Whether the index lacks changes, or its indexes. */
export async function isBehind(pool: Queryable): Promise<boolean> {
  const { rows } = await pool.query(
    "select 1 where exists (select 1 from book_search_queue) or to_regclass('book_search_trigrams') is null",
    [],
  );
  return rows.length > 0;
}

async function migrate(client: PoolClient): Promise<void> {
  await waitForOthers(client);
  // While this lock waits for a transaction, later writers wait behind the lock: so it waits for at most a second, once a minute.
  await client.query("set local lock_timeout = '1s'");
  await client.query(END_IF_IDLE);
  await client.query('lock table books in share row exclusive mode');
  // Another process may have done it meanwhile.
  const outdated = await selectOutdated(client);
  if (!outdated) return;
  const { schema, version } = outdated;
  await client.query(createTables(schema));
  await client.query(markAllChanged(schema));
  if (version !== null && compareVersions(version, 'schema 5') < 0)
    await client.query(`drop table if exists ${schema}.book_changes`);
}

/** Begins a transaction when no other service is doing the same, for which no writer waits. @throws StoreUnavailable when one still is */
async function waitForOthers(client: PoolClient): Promise<void> {
  await client.query(`begin isolation level read committed; set local lock_timeout = ${INDEX_WAITS_MS}`);
  try {
    await client.query("select pg_advisory_xact_lock(hashtext('bookkeeping'), hashtext('book_search'))");
  } catch (error) {
    throw means(error, 'lock not available in time') ? notPrepared(undefined) : error;
  }
}

/** @returns the index if it is to be built; undefined if it is that of this version, or of a newer one */
async function selectOutdated(client: PoolClient): Promise<Table | undefined> {
  const table = await selectTable(client);
  if (!table) throw new UnusableIndex('there is no table books');
  const { schema, version } = table;
  const age = compareVersions(version, INDEX_VERSION);
  if (age !== 0) return age < 0 ? table : undefined;
  const find = (name: string) => `to_regclass(${quoteLiteral(`${schema}.${name}`)})`;
  const { rows } = await client.query<{ isIntact: boolean | null }>(
    `select obj_description(${find('book_search_queue')}, 'pg_class') = '${definitionsOf(schema)}'
       and ${find('book_search_positions')} is not null
       and to_regprocedure(${quoteLiteral(`${schema}.book_search_entries(bigint, smallint[])`)}) is not null
       and ${hasTriggers('book_search', schema, NOTE)} as "isIntact"`,
  );
  return rows[0]?.isIntact ? undefined : table;
}

/**
 * Negative if the first version is older; null is before all. The newest version that has searched a store has its index, and
 * searches of older ones are 503: if two replaced the index of each other, neither would ever be complete.
 */
function compareVersions(one: string | null, other: string): number {
  return (one ?? '').localeCompare(other, 'en', { numeric: true });
}

/** The function of the triggers on the books, which fill the queue `book_search_queue`, and not the log of changes. */
const NOTE = 'note_book_changes';

/** What {@link createTables} creates; stored as the comment of the queue. */
function definitionsOf(schema: string): string {
  return hash('sha1', createTables(schema));
}

async function selectTable(client: PoolClient): Promise<Table | undefined> {
  const [table] = (await client.query<Table>(SELECT_TABLE)).rows;
  if (table?.isForeign)
    throw new UnusableIndex(
      'another program has a table book_search or book_search_positions or a function note_book_changes',
    );
  return table;
}

/** Begins a transaction on a snapshot, in which no other process replaces the index. */
export const BEGIN = 'begin isolation level repeatable read';
const KEEP_TABLES = 'lock table book_search, book_search_queue in access share mode';
export const BEGIN_SEARCH = `${BEGIN}; ${KEEP_TABLES}`;
/**
 * The same to apply changes: one transaction at a time, so that its snapshot has the remaining changes. A crash that loses the
 * index rows of this transaction also restores its changes.
 *
 * @param waitMs the longest time to wait for another one; 0 for as long as it takes
 */
export function beginApplying(waitMs: number): string {
  return `
    ${BEGIN}; set local synchronous_commit = off; set local lock_timeout = ${waitMs};
    ${KEEP_TABLES}; lock table book_search_lock in exclusive mode`;
}

export interface IndexState {
  /** Whether the index has every change of the snapshot. */
  readonly isComplete: boolean;
  /** Whether {@link createIndexes} has been executed. */
  readonly hasIndexes: boolean;
  /** Negative if the index is that of an older version, positive if of a newer one. */
  readonly age: number;
}

/** Begins a transaction, in the same message. @param begin {@link BEGIN_SEARCH}, or that of {@link beginApplying} */
export async function beginWithState(client: PoolClient, begin: string): Promise<IndexState> {
  const results = (await client.query(`${begin}; ${SELECT_STATE}`)) as unknown as QueryResult[];
  const state = results.at(-1)?.rows[0] as IndexState & { version: string | null };
  return { ...state, age: compareVersions(state.version, INDEX_VERSION) };
}

const SELECT_STATE = `
  select not exists (select 1 from book_search_queue) as "isComplete",
    to_regclass('book_search_trigrams') is not null as "hasIndexes",
    obj_description(to_regclass('book_search'), 'pg_class') as version
`;

/**
 * Prepares to apply all changes, in a transaction that {@link beginApplying} has begun. If they are of many books, the indexes are
 * dropped: with them, applying takes several times as long as creating them again. Searches wait for that anyway.
 *
 * @returns the number of the books
 */
export async function prepareBacklog(client: PoolClient): Promise<number> {
  const count = async (sql: string) => Number((await client.query<{ count: string }>(sql)).rows[0]?.count);
  const backlog = await count(COUNT_BACKLOG);
  // Counting millions of books takes a second.
  if (backlog > MANY_CHANGES && backlog > (await count(COUNT_INDEXED)) * DROPPED_PART) {
    for (const name of Object.keys(INDEXES)) await client.query(`drop index if exists book_search_${name}`);
    await client.query(CLEAR_POSITIONS);
  }
  return backlog;
}

const MANY_CHANGES = 20_000;
/** The part of the books in the index from which on changes are many. */
const DROPPED_PART = 0.25;

const COUNT_BACKLOG = `
  select coalesce(sum(
    case when first_id = last_id then 1 else (select count(*) from books where id between first_id and last_id) end
  ), 0) as count
  from book_search_queue
`;
const COUNT_INDEXED = 'select count(*) as count from book_search';

/** Records that all books have changed. */
function markAllChanged(schema: string): string {
  return `
    select one from ${schema}.book_search_lock for update;
    insert into ${schema}.book_search_queue (first_id, last_id) values (${ALL_IDS.join(', ')});
    comment on table ${schema}.book_search is '${INDEX_VERSION}';
    comment on table ${schema}.book_search_queue is '${definitionsOf(schema)}';
  `;
}

/**
 * Triggers record the ids of changed books in the transaction of any client; the background, or a search that comes first, folds
 * their texts. `note` numbers the changes; the process that applies them locks the table `book_search_lock`.
 */
function createTables(schema: string): string {
  return `
    drop table if exists ${schema}.book_search;
    create table ${schema}.book_search (
      id bigint primary key,
      twin_key bigint not null,
      year bigint not null,
      bytes integer not null,
      title_key text collate "C" not null,
      author_key text collate "C" not null,
      title_lower text collate "C",
      author_lower text collate "C",
      words text collate "C",
      trigrams smallint[] not null
    );
    ${createPositions(schema)}
    ${createEntries(schema)}
    create table if not exists ${schema}.book_search_lock (one integer primary key);
    insert into ${schema}.book_search_lock values (1) on conflict do nothing;
    create table if not exists ${schema}.book_search_queue (
      note bigint generated always as identity primary key,
      first_id bigint not null,
      last_id bigint not null
    );
    create or replace function ${schema}.note_book_changes() returns trigger
      language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $function$
    begin
      if tg_op = 'INSERT' then
        -- Most statements insert consecutive ids, which are one range.
        insert into ${schema}.book_search_queue (first_id, last_id)
          select min(id), max(id) from added having max(id) - min(id) < 2 * count(*);
        if not found then
          insert into ${schema}.book_search_queue (first_id, last_id) select id, id from added;
        end if;
      elsif tg_op = 'UPDATE' then
        insert into ${schema}.book_search_queue (first_id, last_id) select id, id from removed union select id, id from added;
      elsif tg_op = 'DELETE' then
        insert into ${schema}.book_search_queue (first_id, last_id) select id, id from removed;
      else
        insert into ${schema}.book_search_queue (first_id, last_id) values (${ALL_IDS.join(', ')});
      end if;
      return null;
    end
    $function$;
    ${createTriggers('book_search', schema, NOTE)}
  `;
}

/**
 * Marks the books as visible to all, so that reading an index alone tells which there are: counting the positions takes a tenth of the
 * time then, and so do searches from the start. The server would do it by itself, minutes later. Not in a transaction, so it has
 * no `statement_timeout` of its own: behind PgBouncer that would stay on a connection which other pools use, too.
 */
export async function vacuum(client: PoolClient): Promise<void> {
  await client.query('vacuum (analyze) book_search');
}

/** The parts of the time of a build at which a phase of it begins and ends, from 0 to 1. */
export interface Phase {
  readonly from: number;
  readonly to: number;
}

/** The phase in which the table gets its books, before {@link createIndexes}. */
export const FILLING: Phase = { from: 0, to: 0.64 };

/**
 * Creates the indexes when the table has all books, and counts their positions: the indexes are smaller then, and complete several
 * times sooner. Until the end of the transaction no process can change the table; writers of books need not.
 *
 * @param begin called with each phase before it begins
 */
export async function createIndexes(client: PoolClient, begin: (phase: Phase) => void): Promise<void> {
  await client.query(
    `set local statement_timeout = ${CREATION_MS_MAX}; set local maintenance_work_mem = '256MB'`,
  );
  let from = FILLING.to;
  for (const [name, { definition, to }] of Object.entries(INDEXES)) {
    begin({ from, to });
    const statement = { text: `create index if not exists book_search_${name} on book_search ${definition}` };
    await client.query(Object.assign(statement, { query_timeout: CREATION_MS_MAX }));
    from = to;
  }
  begin({ from, to: 1 });
  await new Positions(client).build(CREATION_MS_MAX);
}

/** How much of an index {@link createIndexes} has created in another transaction, from 0 to 1; 0 if it creates none. */
export async function readCreated(pool: Queryable): Promise<number> {
  const { rows } = await pool.query(SELECT_CREATED, []);
  const [created] = rows as { readonly part: number | null }[];
  return created?.part ?? 0;
}

/** The time of a creation is mostly that of reading the table, whose blocks PostgreSQL counts. */
const SELECT_CREATED = `
  select max(case when phase ~ ': (sorting|merging|loading)' then 1 else blocks_done::float / nullif(blocks_total, 0) end) as part
  from pg_stat_progress_create_index where datname = current_database() and relid = to_regclass('book_search')
`;

/** The longest creation of an index. */
const CREATION_MS_MAX = 3_600_000;

/** The indexes, and the part of the time of a build of millions of books at which their creation ends, see {@link Phase}. */
const INDEXES = {
  // The year is for pages of some years in these orders.
  title: { definition: '(title_key, id) include (year)', to: 0.66 },
  author: { definition: '(author_key, id) include (year)', to: 0.69 },
  twin: { definition: '(twin_key, year, id)', to: 0.7 },
  year: { definition: '(year, id)', to: 0.71 },
  // PostgreSQL appends changes to a list, which a search reads once for each range of ids. With the default of 4 MB searches take up to
  // thirty times as long; 64 kB are about a hundred books, and changes take no longer to apply.
  trigrams: { definition: `using gin (${ENTRIES}) with (gin_pending_list_limit = 64)`, to: 0.98 },
};

const ALL_IDS = ['-9223372036854775808', '9223372036854775807'] as const;

export const TAKE_QUEUED = `
  delete from book_search_queue where note in (select note from book_search_queue order by note limit $1)
  returning first_id::text as first, last_id::text as last
`;
export const INSERT_QUEUED =
  'insert into book_search_queue (first_id, last_id) select * from unnest($1::bigint[], $2::bigint[])';
/** The first ids of a range, including those of deleted books, which only the index has. */
export const SELECT_RANGE = `
  select id::text as id
  from (
    (select id from books where id between $1::bigint and $2::bigint order by id limit $3)
    union
    (select id from book_search where id between $1::bigint and $2::bigint order by id limit $3)
  ) as next
  order by next.id limit $3
`;
/** A book with the part of its texts that is compared, and the length of all. */
export const COMPARED_COLUMNS = `
  id, left(coalesce(title, ''), ${COMPARED_LENGTH}) as title, left(coalesce(author, ''), ${COMPARED_LENGTH}) as author,
  ${exact('year')} as year, ${textBytes()} as bytes
`;
/** The most text of the books that are folded together; a row of the index, as JSON, has about ten times as much. */
const FOLDED_BYTES_MAX = 1_024 * 1_024;
/** Of the given books, the next ones after an id, in the order of the ids: at least one, if there is one. */
export const SELECT_BOOKS = `
  select ${COMPARED_COLUMNS}, more
  from (
    select id, ${FIELD_LIST}, lead(id) over by_id is not null as more, sum(${textBytes()}) over by_id - (${textBytes()}) as before
    from books where id = any($1::bigint[]) and id > $2::bigint and ${HAS_EXACT_ID}
    window by_id as (order by id)
  ) as books
  where before < ${FOLDED_BYTES_MAX} order by id
`;
export const DELETE_INDEXED = counting('-', 'delete from book_search where id = any($1::bigint[])');
/** Inserts an array of objects, which the server parses faster than an array for each column. @see counting for its rows */
export const INSERT_INDEXED = counting(
  '+',
  `
  insert into book_search (id, twin_key, year, bytes, title_key, author_key, title_lower, author_lower, words, trigrams)
  select id, "twinKey", year, bytes, "titleKey", "authorKey", "titleLower", "authorLower", words, trigrams
  from json_to_recordset($1::json) as folded (id bigint, "twinKey" bigint, year bigint, bytes integer,
    "titleKey" text, "authorKey" text, "titleLower" text, "authorLower" text, words text, trigrams smallint[])
`,
);
