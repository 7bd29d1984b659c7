import { createTriggers, dropTriggers, quoteLiteral, tablesOfBooks } from '../../store/postgres/schema.ts';
import { ORDER_SETTING } from '../../store/postgres/sql.ts';

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

/** Increment it with every change of what {@link startRecording} creates. Older services accept what later ones create. */
export const RECORDER_VERSION = 3;

/** The id of the rows of type `gap`, which no book has: before each of them, changes may not have been recorded. */
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
 * Creates or repairs what records changes, and notes a gap in the log, as changes may have been missed. It must be executed
 * while no other transaction can have written books.
 *
 * @param days how long changes are kept, unless the state says so
 */
export function startRecording(schema: string, days: number): string {
  const sequence = quoteLiteral(`${schema}.book_history_note`);
  // The upper bits of the keys of the advisory locks; the lower 48 are a note. Each schema has a log of its own.
  const space = `(16384 + ${sequence}::regclass::oid::bigint % 16384)`;
  // In a transaction that has announced a note: `on`, or `nested` after a trigger has written books.
  const announced = `'bookkeeping.announced_' || ${sequence}::regclass::oid`;
  const nonce = 'floor(random() * 9007199254740992)::bigint';
  const noteOf = (id: string) => `coalesce((notes ->> ${id}::text)::bigint, nextval(${sequence}))`;
  const record = (type: string, row: string, note = noteOf(`${row}.id`)) => `
    insert into ${schema}.book_history_changes (note, id, type, title, author, year)
    select ${note}, ${row}.id, ${type}, coalesce(${row}.title, ''), coalesce(${row}.author, ''), coalesce(${row}.year, 0)`;
  const recordGap = `
    with gap as (
      insert into ${schema}.book_history_changes (id, type, title, author, year) values (${GAP_ID}, 'gap', '', '', 0)
      returning note, nonce
    )
    update ${schema}.book_history set removed = gap.note, removed_nonce = gap.nonce`;
  const nameOf = (relation: string) => quoteLiteral(`${schema}.${relation}`);
  const regclass = (relation: string) => `to_regclass(${nameOf(relation)})`;
  return `
    create table if not exists ${schema}.book_history (
      log text not null default md5(random()::text || clock_timestamp()::text),
      removed bigint not null default 0,
      days integer
    );
    create sequence if not exists ${schema}.book_history_note;
    create table if not exists ${schema}.book_history_changes (
      note bigint primary key default nextval(${sequence}),
      id bigint not null,
      type text not null,
      at timestamp with time zone not null default clock_timestamp(),
      title text not null,
      author text not null,
      year bigint not null
    );
    -- Version 0.1.0 knows the columns above only. Its changes have the nonce 0.
    do $do$ begin
      if not ${hasColumns(nameOf('book_history'), STATE_COLUMNS)} then
        alter table ${schema}.book_history
          add column if not exists removed_nonce bigint not null default 0,
          add column if not exists recorder integer not null default 0,
          add column if not exists catalog text;
      end if;
      if not ${hasColumns(nameOf('book_history_changes'), ['nonce'])} then
        alter table ${schema}.book_history_changes add column nonce bigint not null default 0;
        alter table ${schema}.book_history_changes alter column nonce set default ${nonce};
      end if;
    end $do$;
    alter table ${schema}.book_history_changes alter column note set default nextval(${sequence});
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
      if pg_trigger_depth() > 1 then
        perform set_config(${announced}, 'nested', true);
      elsif ordered <> '' then
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
          ${recordGap} from gap;
        end if;
      end if;
      if tg_op <> 'TRUNCATE' and current_setting(${announced}) = 'nested' then
        -- Another trigger may have changed the books of the statement again, which was recorded before the statement: for
        -- example, one on inserts that changes each new title to capitals. The last change of a book must be what it is now.
        insert into ${schema}.book_history_changes (id, type, title, author, year)
        select recorded.id,
          case when book.id is null then 'deleted' when recorded.type = 'deleted' then 'created' else 'updated' end,
          coalesce(book.title, recorded.title), coalesce(book.author, recorded.author), coalesce(book.year, recorded.year)
        from (select distinct on (id) * from ${schema}.book_history_changes where note > last order by id, note desc) as recorded
          left join lateral (
            select id, coalesce(title, '') as title, coalesce(author, '') as author, coalesce(year, 0) as year
            from ${schema}.books where books.id = recorded.id limit 1
          ) as book on true
        where case when book.id is null or recorded.type = 'deleted' then (book.id is null) <> (recorded.type = 'deleted')
          else (book.title, book.author, book.year) <> (recorded.title, recorded.author, recorded.year) end
          and recorded.type <> 'gap'
        order by 1;
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

    -- Differs when one of them was altered, disabled or replaced, also if that was undone: then changes may be missing.
    create or replace function ${schema}.book_history_catalog() returns text
      language plpgsql stable set search_path = pg_catalog, pg_temp
    as $function$
    declare
      books oid[] := array${tablesOfBooks(schema)};
      state oid := ${regclass('book_history')};
      changes oid := ${regclass('book_history_changes')};
    begin
      return (select md5(string_agg(version, ' ' order by version)) from (
        select concat('table ', oid) as version
        from unnest(books || array[state, changes, ${regclass('book_history_note')},
          ${regclass('book_history_by_book')}, ${regclass('book_history_deleted')}]::oid[]) as oid
        union all
        select concat('column ', attrelid, ' ', attnum, ' ', attname, ' ', atttypid) from pg_attribute
        where attrelid in (state, changes) and attnum > 0
        union all
        -- A new type of a column may change all books.
        select concat('column ', attrelid, ' ', attname, ' ', xmin) from pg_attribute
        where attrelid = any (books) and attname in ('id', 'title', 'author', 'year')
        union all
        select concat('default ', oid) from pg_attrdef where adrelid in (state, changes)
        union all
        select concat('trigger ', oid, ' ', xmin) from pg_trigger
        where tgrelid = any (books || changes) and tgname like 'book\\_history\\_%'
        union all
        select concat('function ', oid, ' ', xmin) from pg_proc
        where pronamespace = ${quoteLiteral(schema)}::regnamespace and proname in ('${RECORD}', 'book_history_last', 'book_history_removed', 'book_history_catalog')
      ) as versions);
    end
    $function$;

    ${recordGap}, days = coalesce(days, ${days}), recorder = ${RECORDER_VERSION}, catalog = ${schema}.book_history_catalog()
    from gap;
  `;
}

/** Those that version 0.1.0 does not know. */
export const STATE_COLUMNS = ['removed_nonce', 'recorder', 'catalog'];

/** The condition that a table has columns. @param table the expression of its name */
export function hasColumns(table: string, columns: readonly string[]): string {
  return `array['${columns.join("', '")}'] <@ array(
    select attname::text from pg_attribute where attrelid = to_regclass(${table}) and attnum > 0 and not attisdropped
  )`;
}
