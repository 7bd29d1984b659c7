/** What a service of version 0.1.0 executes on PostgreSQL. */
export const VERSION_0_1_0 = {
  /** Creates its tables and functions, and triggers in the schema public. */
  start: `
    create table if not exists public.book_history (
      log text not null default md5(random()::text || clock_timestamp()::text),
      removed bigint not null default 0,
      days integer
    );
    insert into public.book_history select where not exists (select 1 from public.book_history);
    create sequence if not exists public.book_history_note;
    create table if not exists public.book_history_changes (
      note bigint primary key default nextval('public.book_history_note'),
      id bigint not null,
      type text not null,
      at timestamp with time zone not null default clock_timestamp(),
      title text not null,
      author text not null,
      year bigint not null
    );
    create index if not exists book_history_by_book on public.book_history_changes (id, note);
    create index if not exists book_history_deleted on public.book_history_changes (note) where type = 'deleted';
    update public.book_history set removed = nextval('public.book_history_note');

    create or replace function public.book_history_last() returns bigint
      language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $function$
    declare
      -- It is read before the locks.
      last bigint := coalesce(pg_sequence_last_value('public.book_history_note'), 0);
    begin
      if pg_is_in_recovery() then
        raise 'a standby does not know the transactions of its primary' using errcode = 'read_only_sql_transaction';
      end if;
      return least(last, (
        select min(((classid::bigint & 65535) << 32) | objid::bigint) from pg_locks
        where locktype = 'advisory' and objsubid = 1 and classid::bigint >> 16 = (16384 + 'public.book_history_note'::regclass::oid::bigint % 16384)
          and database = (select oid from pg_database where datname = current_database())
      ));
    end
    $function$;

    create or replace function public.record_book_history() returns trigger
      language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $function$
    begin
      if coalesce(current_setting('bookkeeping.announced_' || 'public.book_history_note'::regclass::oid, true), '') = '' then
        perform set_config('bookkeeping.announced_' || 'public.book_history_note'::regclass::oid, 'on', true), pg_advisory_xact_lock_shared(
          ((16384 + 'public.book_history_note'::regclass::oid::bigint % 16384) << 48) + coalesce(pg_sequence_last_value('public.book_history_note'), 0)
        );
      end if;
      if tg_op = 'INSERT' then
        
    insert into public.book_history_changes (id, type, title, author, year)
    select added.id, 'created', coalesce(added.title, ''), coalesce(added.author, ''), coalesce(added.year, 0) from added order by id;
      elsif tg_op = 'UPDATE' then
        insert into public.book_history_changes (id, type, title, author, year)
        select coalesce(added.id, removed.id),
          case when removed.id is null then 'created' when added.id is null then 'deleted' else 'updated' end,
          coalesce(added.title, removed.title), coalesce(added.author, removed.author), coalesce(added.year, removed.year)
        from (select id, coalesce(title, '') as title, coalesce(author, '') as author, coalesce(year, 0) as year from added) as added
          full join (select id, coalesce(title, '') as title, coalesce(author, '') as author, coalesce(year, 0) as year from removed) as removed
          using (id)
        where (added.title, added.author, added.year) is distinct from (removed.title, removed.author, removed.year)
        order by 1;
      elsif tg_op = 'DELETE' then
        
    insert into public.book_history_changes (id, type, title, author, year)
    select removed.id, 'deleted', coalesce(removed.title, ''), coalesce(removed.author, ''), coalesce(removed.year, 0) from removed order by id;
      else
        
    insert into public.book_history_changes (id, type, title, author, year)
    select books.id, 'deleted', coalesce(books.title, ''), coalesce(books.author, ''), coalesce(books.year, 0) from public.books order by id;
      end if;
      return null;
    end
    $function$;

    drop trigger if exists book_history_insert on public.books;
drop trigger if exists book_history_update on public.books;
drop trigger if exists book_history_delete on public.books;
drop trigger if exists book_history_truncate on public.books;
    create trigger book_history_insert after insert on public.books referencing new table as added
      for each statement execute function public.record_book_history();
    create trigger book_history_update after update on public.books referencing old table as removed new table as added
      for each statement execute function public.record_book_history();
    create trigger book_history_delete after delete on public.books referencing old table as removed
      for each statement execute function public.record_book_history();
    create trigger book_history_truncate before truncate on public.books
      for each statement execute function public.record_book_history();
  `,
  stop: `
  drop trigger if exists book_history_insert on books;
drop trigger if exists book_history_update on books;
drop trigger if exists book_history_delete on books;
drop trigger if exists book_history_truncate on books;
  do $$ begin
    if to_regclass('book_history') is not null then update book_history set days = null; end if;
  end $$;
`,
  removeOld: `
  with first as (
    select note, at from book_history_changes order by note limit 500
  ), old as (
    select max(note) as note from first cross join book_history
    where at < now() - days * interval '1 day' or note <= removed
  ), moved as (
    update book_history set removed = old.note from old where old.note > removed
  )
  delete from book_history_changes using first, old
  where book_history_changes.note = first.note and first.note <= old.note
`,
};
