import { SORT_KEY_LENGTH } from '../../book.ts';
import { BOOK } from './sql.ts';

/**
 * Tables of our own beside the books. Triggers note which books have changed, for whoever writes them, in the same
 * transaction: so nothing is missed that commits late. Texts are folded later, when somebody searches.
 */
export function schemaOf(place: string): string {
  return `
    create table if not exists ${place}.book_search (
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
    create index if not exists book_search_title_asc on ${place}.book_search (title_key, id);
    create index if not exists book_search_title_desc on ${place}.book_search (title_key desc, id);
    create index if not exists book_search_author_asc on ${place}.book_search (author_key, id);
    create index if not exists book_search_author_desc on ${place}.book_search (author_key desc, id);
    create index if not exists book_search_year_asc on ${place}.book_search (year, id);
    create index if not exists book_search_year_desc on ${place}.book_search (year desc, id);
    create index if not exists book_search_trigrams on ${place}.book_search using gin (trigrams);

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
    create trigger book_search_insert after insert on ${place}.books
      referencing new table as added for each statement execute function ${place}.note_book_changes();
    create trigger book_search_update after update on ${place}.books
      referencing old table as removed new table as added for each statement execute function ${place}.note_book_changes();
    create trigger book_search_delete after delete on ${place}.books
      referencing old table as removed for each statement execute function ${place}.note_book_changes();
    create trigger book_search_truncate after truncate on ${place}.books
      for each statement execute function ${place}.note_book_changes();
    insert into ${place}.book_changes (first_id, last_id) values (${EVERYTHING.join(', ')});
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
