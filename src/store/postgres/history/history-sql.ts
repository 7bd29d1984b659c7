import { changeStatements } from '../../page.ts';
import { REMOVAL_MAX } from '../../store-limits.ts';
import { BOOK_COLUMNS, type Statement } from '../sql.ts';

/** The identity of the log: that of a restored dump differs by its server or its table. A standby has that of its primary. */
const LOG = `
  left(md5(log || 'book_history'::regclass::oid || (select system_identifier from pg_control_system())), 16)
`;

export const SELECT_LAST = 'select book_history_last() as last';

/** Its values are the last final note, and those of `valuesOf`. */
export const selectOf = changeStatements(
  'book_history_changes',
  'note <= $1',
  ['$2', '$3', '$4'],
  (changes, isRequested) => `
    select ${LOG} as log, removed, days, $1::bigint as last,
      greatest(removed, (select max(note) from book_history_changes)) as newest, note,
      ${isRequested} as "isRequested", type,
      floor(extract(epoch from at) * 1000)::bigint as at, id, title, author, year
    from book_history left join ${changes} on true
    order by number`,
);

/**
 * Stores a book as it was when it was deleted. It writes to that change, so that a statement that has waited for another
 * restore of the book finds another version of the change, and does not restore what may be older than the last deletion.
 */
export const RESTORE: Statement = {
  text: `
  with deletion as (
    select note, version from (
      select note, xmin as version, type from book_history_changes
      where id = $1 and note > (select removed from book_history)
      order by note desc limit 1
    ) as last_change
    where type = 'deleted'
  ), deleted as (
    update book_history_changes as changes set at = changes.at from deletion
    where changes.note = deletion.note and changes.xmin = deletion.version
    returning changes.id, changes.title, changes.author, changes.year
  ), restored as (
    insert into books (id, title, author, year) select id, title, author, year from deleted
    on conflict (id) do nothing
    returning ${BOOK_COLUMNS}
  )
  select coalesce(
    (select row_to_json(restored) from restored),
    (select to_json('exists'::text) where exists (select from deletion) or exists (select from books where id = $1))
  ) as restored
`,
};

export const REMOVE_OLD = `
  with first as (
    select note, at from book_history_changes order by note limit ${REMOVAL_MAX}
  ), old as (
    select max(note) as note from first cross join book_history
    where at < now() - days * interval '1 day' or note <= removed
  ), moved as (
    update book_history set removed = old.note from old where old.note > removed
  )
  delete from book_history_changes using first, old
  where book_history_changes.note = first.note and first.note <= old.note
`;
