import { hash } from 'node:crypto';
import { ORDER_SETTING } from '../../store/postgres/batches/update-many.ts';
import { createTriggers, dropTriggers, FIXED_PATH, hasTriggers, quoteLiteral } from './triggers.ts';

/**
 * The log of changes, in which triggers record what any program writes, in its transaction. A state row says since when.
 *
 * The position of a change is the column `note`, which a sequence numbers when the change is written: so positions are not in
 * the order of commits. Each transaction therefore announces, by an advisory lock that it holds until its end, the last
 * position that was taken before its own first one. Positions up to the lowest announced one are final: no change at one of
 * them can still be committed. For example:
 *
 * 1. The last position is 7. Transaction A announces 7, and writes a change at 8.
 * 2. Transaction B announces 8, writes a change at 9, and commits. A follower that now read up to 9 would continue after 9,
 *    and miss 8. But the lowest announced position is 7, so it reads up to 7.
 * 3. A commits. No position is announced, so all up to the last one of the sequence are final: the follower reads 8 and 9.
 *
 * A reader must read the sequence before the locks. If it then sees no lock of A, either A has ended, or A takes its lock
 * later and writes only at positions after the last one that the reader has read.
 */

/**
 * The id of the rows of type `gap`, which no book has: before each of them, changes may not have been recorded. Logs have it, so it stays,
 * though that of SQLite is one more.
 */
export const GAP_ID = -(2 ** 53);

/** The function of the triggers on the books. */
const RECORD = 'record_book_history';

/** Stops to record; what has been recorded stays, unless it was dropped by hand. */
export function stopRecording(schema: string): string {
  return `
    ${dropTriggers(schema, RECORD)}
    do $do$ begin
      if to_regclass(${quoteLiteral(`${schema}.book_history`)}) is not null then
        update ${schema}.book_history set days = null;
      end if;
    end $do$;
  `;
}

/**
 * Creates what records changes, or puts it right, and notes a gap in the log, as changes may have been missed. It must be executed
 * while no other transaction can have written books.
 *
 * @param days how long changes are kept
 */
export function startRecording(schema: string, days: number): string {
  return `
    ${FIXED_PATH};
    ${createRecorder(schema)}
    ${recordGap(schema)}, days = ${days}, definitions = '${definitionsOf(schema)}' from gap;
  `;
}

function createRecorder(schema: string): string {
  const sequence = quoteLiteral(`${schema}.book_history_note`);
  // The upper bits of the keys of the advisory locks; the lower 48 are a note. Each schema has a log of its own.
  const space = `(16384 + ${sequence}::regclass::oid::bigint % 16384)`;
  // It is `on` in a transaction that has announced a note.
  const announced = `'bookkeeping.announced_' || ${sequence}::regclass::oid`;
  const nonce = 'floor(random() * 9007199254740992)::bigint';
  const noteOf = (id: string) => `coalesce((notes ->> ${id}::text)::bigint, nextval(${sequence}))`;
  const record = (type: string, row: string, note = noteOf(`${row}.id`)) => `
    insert into ${schema}.book_history_changes (note, id, type, title, author, year)
    select ${note}, ${row}.id, ${type}, coalesce(${row}.title, ''), coalesce(${row}.author, ''), coalesce(${row}.year, 0)`;
  return `
    create table if not exists ${schema}.book_history (
      removed bigint not null default 0,
      removed_nonce bigint not null default 0,
      days integer,
      definitions text
    );
    create sequence if not exists ${schema}.book_history_note;
    create table if not exists ${schema}.book_history_changes (
      note bigint primary key default nextval(${sequence}),
      id bigint not null,
      nonce bigint not null default ${nonce},
      type text not null,
      at timestamp with time zone not null default clock_timestamp(),
      title text not null,
      author text not null,
      year bigint not null
    );
    alter table ${schema}.book_history_changes alter column note set default nextval(${sequence}),
      alter column nonce set default ${nonce}, alter column at set default clock_timestamp();
    insert into ${schema}.book_history select where not exists (select 1 from ${schema}.book_history);
    create index if not exists book_history_by_book on ${schema}.book_history_changes (id, note);
    create index if not exists book_history_deleted on ${schema}.book_history_changes (note) where type = 'deleted';
    -- It may be behind a table that was restored.
    select setval(${sequence}, last.note) from (select max(note) as note from ${schema}.book_history_changes) as last
    where last.note > coalesce(pg_sequence_last_value(${sequence}), 0);

    create or replace function ${schema}.book_history_last() returns bigint
      language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $function$
    declare
      -- It is read before the locks.
      last bigint := coalesce(pg_sequence_last_value(${sequence}), 0);
    begin
      if pg_is_in_recovery() then
        raise 'a standby does not know the transactions of its primary' using errcode = 'read_only_sql_transaction';
      end if;
      return least(last, (
        select min(((classid::bigint & 65535) << 32) | objid::bigint) from pg_locks
        where locktype = 'advisory' and objsubid = 1 and classid::bigint >> 16 = ${space}
          and database = (select oid from pg_database where datname = current_database())
      ));
    end
    $function$;

    create or replace function ${schema}.${RECORD}() returns trigger
      language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $function$
    declare
      last bigint := coalesce(pg_sequence_last_value(${sequence}), 0);
      -- Those that are taken for books, by id, as text.
      notes jsonb;
      ordered text := coalesce(current_setting('${ORDER_SETTING}', true), '');
    begin
      if coalesce(current_setting(${announced}, true), '') = '' then
        perform set_config(${announced}, 'on', true), pg_advisory_xact_lock_shared((${space} << 48) + last);
      end if;
      -- What triggers of other programs write has no place in the order of the statement that called them.
      if ordered <> '' and pg_trigger_depth() = 1 then
        -- Updates and deletes of one statement call this function one after the other: the first call takes the notes of all.
        if ordered not like '{%' then
          select json_object_agg(id, note) into ordered
          from (select id, nextval(${sequence}) as note from unnest(string_to_array(ordered, ',')) as id) as taken;
          perform set_config('${ORDER_SETTING}', ordered, true);
        end if;
        notes := ordered;
      end if;
      if tg_op = 'INSERT' then
        ${record("'created'", 'added')} from added order by id;
      elsif tg_op = 'UPDATE' then
        insert into ${schema}.book_history_changes (note, id, type, title, author, year)
        select ${noteOf('id')}, id,
          case when removed.id is null then 'created' when added.id is null then 'deleted' else 'updated' end,
          coalesce(added.title, removed.title), coalesce(added.author, removed.author), coalesce(added.year, removed.year)
        from (select id, coalesce(title, '') as title, coalesce(author, '') as author, coalesce(year, 0) as year from added) as added
          full join (select id, coalesce(title, '') as title, coalesce(author, '') as author, coalesce(year, 0) as year from removed) as removed
          using (id)
        where (added.title, added.author, added.year) is distinct from (removed.title, removed.author, removed.year)
        order by id;
      elsif tg_op = 'DELETE' then
        ${record("'deleted'", 'removed')} from removed order by id;
      else
        -- The trigger of each partition records its own books.
        execute $sql$ ${record("'deleted'", 'books', `nextval(${sequence})`)} from only $sql$ || tg_relid::regclass || ' as books order by id';
        if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
          -- The transaction may not see all books that it removes.
          ${recordGap(schema)} from gap;
        end if;
      end if;
      return null;
    end
    $function$;

    ${createTriggers('book_history', schema, RECORD)}

    -- Whatever removes changes, followers that have not seen them must read the list anew.
    create or replace function ${schema}.book_history_removed() returns trigger
      language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $function$
    begin
      if tg_op = 'DELETE' then
        update ${schema}.book_history set removed = last.note, removed_nonce = last.nonce
        from (select note, nonce from removed order by note desc limit 1) as last
        where book_history.removed < last.note;
      else
        update ${schema}.book_history set removed = nextval(${sequence}), removed_nonce = ${nonce};
      end if;
      return null;
    end
    $function$;
    create or replace trigger book_history_removed after delete on ${schema}.book_history_changes
      referencing old table as removed for each statement execute function ${schema}.book_history_removed();
    create or replace trigger book_history_truncated after truncate on ${schema}.book_history_changes
      for each statement execute function ${schema}.book_history_removed();
  `;
}

/** A statement that notes a gap, to which further assignments and `from gap` are appended. */
function recordGap(schema: string): string {
  return `
    with gap as (
      insert into ${schema}.book_history_changes (id, type, title, author, year) values (${GAP_ID}, 'gap', '', '', 0)
      returning note, nonce
    )
    update ${schema}.book_history set removed = gap.note, removed_nonce = gap.nonce`;
}

/** What {@link startRecording} creates; a version of the service that creates something else notes a gap. */
export function definitionsOf(schema: string): string {
  return hash('sha1', createRecorder(schema));
}

/** Whether the triggers are there, as an expression. */
export function isRecording(schema: string): string {
  return hasTriggers('book_history', schema, RECORD);
}

/** The columns that the tables of the log must have at least, or they are those of another program. */
export const LOG_COLUMNS = {
  book_history: ['removed', 'removed_nonce', 'days', 'definitions'],
  book_history_changes: ['note', 'id', 'nonce', 'type', 'at', 'title', 'author', 'year'],
};
