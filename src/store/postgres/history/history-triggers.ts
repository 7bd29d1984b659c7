import { createTriggers, dropTriggers } from '../schema.ts';

/**
 * The log of changes, in which triggers record what any program writes, in its transaction.
 *
 * The notes of a sequence are not in the order of commits. So each transaction announces, by an advisory lock that it holds
 * until its end, the last note before its own first one. Notes up to the lowest announced one are final.
 */

/** Stops to record; what has been recorded stays, unless it was dropped by hand. */
export const STOP_RECORDING = `
  ${dropTriggers('book_history')}
  do $$ begin
    if to_regclass('book_history') is not null then update book_history set days = null; end if;
  end $$;
`;

export function startRecording(schema: string): string {
  const sequence = `'${schema.replaceAll("'", "''")}.book_history_note'`;
  // The upper bits of the keys of the advisory locks; the lower 48 are a note. Each schema has a log of its own.
  const space = `(16384 + ${sequence}::regclass::oid::bigint % 16384)`;
  const isAnnounced = `'bookkeeping.announced_' || ${sequence}::regclass::oid`;
  const record = (type: string, row: string) => `
    insert into ${schema}.book_history_changes (id, type, title, author, year)
    select ${row}.id, ${type}, coalesce(${row}.title, ''), coalesce(${row}.author, ''), coalesce(${row}.year, 0)`;
  return `
    create table if not exists ${schema}.book_history (
      log text not null default md5(random()::text || clock_timestamp()::text),
      removed bigint not null default 0,
      days integer
    );
    insert into ${schema}.book_history select where not exists (select 1 from ${schema}.book_history);
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
    create index if not exists book_history_by_book on ${schema}.book_history_changes (id, note);
    create index if not exists book_history_deleted on ${schema}.book_history_changes (note) where type = 'deleted';
    update ${schema}.book_history set removed = nextval(${sequence});

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

    create or replace function ${schema}.record_book_history() returns trigger
      language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $function$
    begin
      if coalesce(current_setting(${isAnnounced}, true), '') = '' then
        perform set_config(${isAnnounced}, 'on', true), pg_advisory_xact_lock_shared(
          (${space} << 48) + coalesce(pg_sequence_last_value(${sequence}), 0)
        );
      end if;
      if tg_op = 'INSERT' then
        ${record("'created'", 'added')} from added order by id;
      elsif tg_op = 'UPDATE' then
        insert into ${schema}.book_history_changes (id, type, title, author, year)
        select coalesce(added.id, removed.id),
          case when removed.id is null then 'created' when added.id is null then 'deleted' else 'updated' end,
          coalesce(added.title, removed.title), coalesce(added.author, removed.author), coalesce(added.year, removed.year)
        from (select id, coalesce(title, '') as title, coalesce(author, '') as author, coalesce(year, 0) as year from added) as added
          full join (select id, coalesce(title, '') as title, coalesce(author, '') as author, coalesce(year, 0) as year from removed) as removed
          using (id)
        where (added.title, added.author, added.year) is distinct from (removed.title, removed.author, removed.year)
        order by 1;
      elsif tg_op = 'DELETE' then
        ${record("'deleted'", 'removed')} from removed order by id;
      else
        ${record("'deleted'", 'books')} from ${schema}.books order by id;
      end if;
      return null;
    end
    $function$;

    ${createTriggers('book_history', schema, 'record_book_history')}
  `;
}
