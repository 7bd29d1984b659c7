import { UPDATED_BYTES_MAX, type UpdateFault } from '../../../book/book-store.ts';
import { TAG_DIGITS } from '../../../book/entity-tag.ts';
import { TAGGED_PARTS } from '../../../book/tagged-text.ts';
import { eachField, FIELD_LIST } from '../../each-field.ts';
import { BOOK_COLUMNS, fieldOf, textBytes, typeOf } from '../book-columns.ts';
import type { Database, Statement } from '../pool/database.ts';
import { failUnless, joinArrays } from './all-or-none.ts';
import { FIELDS_SET } from './updates.ts';

/** `taggedText` in src/book/tagged-text.ts, as an expression. */
const taggedText = (book: string) =>
  TAGGED_PARTS.map(([kind, name]) => {
    const value = name === 'id' ? `${book}.id` : fieldOf(name, book);
    if (kind === 'text') return value;
    return `${kind === 'length' ? `octet_length(${value})` : value}::text || ' '`;
  }).join(' || ');
/** Whether a book has one of the tags, or there are none. */
export const isTagged = (book: string) => `(tags is null or strpos(tags, '"' || translate(left(
  encode(sha256(convert_to(${taggedText(book)}, 'UTF8')), 'base64'), ${TAG_DIGITS}), '+/', '-_') || '"') > 0)`;
/** A digest of the fields of a book, to see whether another session has changed it. @param book the alias of its row */
export const digestOf = (book: string) => `md5(${taggedText(book)})`;

/** `UpdateItem`s in the order of their ids. */
export const GIVEN_UPDATES = `
  given as materialized (
    select *
    from rows from (
      json_to_recordset($1::json) as (id bigint, ${eachField((name) => `${name} ${typeOf(name)}`)}, "isDeleted" boolean, tags text)
    ) with ordinality as item (id, ${FIELD_LIST}, "isDeleted", tags, position)
    order by id
  )
`;
/** The bytes of a book as JSON after its update. */
export const sentBytes = (book: string) => `
  (select octet_length(row_to_json(sent)::text) from (
    select ${book}.id, ${eachField((name) => `coalesce(given.${name}, ${book}.${name}) as ${name}`)}
  ) as sent)
`;
/** The change of the books of {@link GIVEN_UPDATES}. @param condition without which the statement changes none */
export const updatesIf = (condition: string) => `
  updated as (
    update books set ${FIELDS_SET} from given
    where books.id = given.id and "isDeleted" is null and ${condition}
    returning ${BOOK_COLUMNS}
  ), deleted as (
    delete from books using given
    where books.id = given.id and "isDeleted" and ${condition}
    returning books.id
  )
`;
/** A condition, for {@link failUnless}. */
export const ARE_CHANGED =
  '(select count(*) from given) = (select count(*) from updated) + (select count(*) from deleted)';
export const RENDER_UPDATED = `
  select coalesce(string_agg(coalesce(row_to_json(updated)::text, 'null'), ',' order by position), '') as json
  from given left join updated using (id)
`;

/** The ids of the books that a transaction changes, for the triggers of the history: the log has them in this order. */
export const ORDER_SETTING = 'bookkeeping.order';

/** Locks the books, so that they stay as they were when the conditions were evaluated; then changes all of them, or none. */
export const UPDATE_MANY: Statement = {
  name: 'update many',
  text: `
  with ${GIVEN_UPDATES}, found as materialized (
    select ${BOOK_COLUMNS} from given join books on books.id = given.id order by books.id for update of books
  ), extent as materialized (
    select coalesce(sum(${textBytes()}), 0) > ${UPDATED_BYTES_MAX} as "isTooLong" from found
  ), unmet as materialized (
    select position - 1 as index,
      case when "isTooLong" then 'too long' when found.id is null then 'absent' else 'other tag' end as fault
    from given left join found on found.id = given.id cross join extent
    where case when "isTooLong" or found.id is null then true else not ${isTagged('found')} end
    order by position limit 1
  ), fault as materialized (
    select * from unmet
    union all
    select 0, 'too long' from given join found using (id)
    where "isDeleted" is null and not exists (select from unmet)
    having sum(${sentBytes('found')}) > ${UPDATED_BYTES_MAX}
  ), ordered as materialized (
    select set_config('${ORDER_SETTING}', string_agg(id::text, ',' order by position), true) is not null as "isOrdered" from given
  ), ${updatesIf('not exists (select from fault) and (select "isOrdered" from ordered)')}
  select json, fault, index from (${RENDER_UPDATED}) as changed left join fault on true
  where ${failUnless(`exists (select from fault) or ${ARE_CHANGED}`)}
`,
};

/** The row of {@link UPDATE_MANY}. */
export interface UpdatedRow {
  readonly json: string;
  readonly fault: UpdateFault['fault'] | null;
  readonly index: number;
}

/** Changes all of the books, or none, in one statement. */
export async function updateMany(
  database: Database,
  arrays: readonly Uint8Array[],
): Promise<Uint8Array[] | UpdateFault> {
  const [row] = await database.query<UpdatedRow>(UPDATE_MANY, [joinArrays(arrays)]);
  if (!row) throw new Error('changes without a row');
  const { json, fault, index } = row;
  return fault === null ? [Buffer.from(json)] : { fault, index };
}
