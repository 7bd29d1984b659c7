import { type BookFields, ID_MAX, YEAR_MAX } from '../../book/book.ts';
import { UPDATED_BYTES_MAX, type UpdateFault } from '../../book/book-store.ts';
import { TAG_DIGITS } from '../../book/entity-tag.ts';
import { FINGERPRINT_LENGTH, KEY_LIFETIME_SECONDS, keysToRemove } from '../idempotency.ts';

/**
 * The statements on books. Their sessions plan without sequential scans, and without JIT (connection/session-settings.ts says why):
 * the server reads all rows only for what has no index to use. So a new statement needs an index for its condition.
 */

export interface Statement {
  /** The name of the prepared statement; without it the statement is not prepared. */
  readonly name?: string;
  readonly text: string;
}

/** A statement on the items of a batch, whose parameters are arrays, one for each column. */
export interface BatchStatement extends Statement {
  readonly name: string;
  /** The same for one item: its parameters are values, and it takes PostgreSQL half of the time. */
  readonly one: string;
}

/** The items of a batch: an array for each parameter. */
export type Columns = readonly (readonly unknown[])[];

/**
 * The number that the service has for one that another program has stored while it ran (the honest accident): within the range
 * that a JSON number has exactly. The start refuses a table with others.
 */
export const exact = (column: string) => `greatest(least(coalesce(${column}, 0), ${YEAR_MAX}), -${YEAR_MAX})`;

/** Other ids have no book: two of them could be the same number. */
export const HAS_EXACT_ID = `id between -${ID_MAX} and ${ID_MAX}`;

/** Adopted tables may contain NULL, which is read as empty. */
export const BOOK_COLUMNS = `books.id, coalesce(books.title, '') as title, coalesce(books.author, '') as author, ${exact('books.year')} as year`;

/** The length of a book, without reading its texts. */
export const TEXT_BYTES = 'coalesce(octet_length(title), 0) + coalesce(octet_length(author), 0)';

/** Divides by zero, so that nothing is stored, if a trigger of the table has left out a book. @param count of the given books */
const isWhole = (count: string, stored: string) =>
  `1 / (case when ${count} = (select count(*) from ${stored}) then 1 else 0 end) = 1`;
const IS_WHOLE = isWhole('(select count(*) from given)', 'stored');

const INSERT_ALL = `
  insert into books (title, author, year)
  select title, author, year
  from unnest($1::text[], $2::text[], $3::bigint[]) with ordinality as given (title, author, year, position)
  order by position
`;
/** It divides by zero like {@link isWhole}. */
export const INSERT: BatchStatement = {
  name: 'create',
  text: `
  with stored as (${INSERT_ALL} returning ${BOOK_COLUMNS})
  select id, title, author, year from stored where ${isWhole('cardinality($1::text[])', 'stored')}
`,
  one: `insert into books (title, author, year) values ($1::text, $2::text, $3::bigint) returning ${BOOK_COLUMNS}`,
};

export const IS_EXPIRED = `created_at <= now() - interval '${KEY_LIFETIME_SECONDS} seconds'`;

const FINGERPRINT = `left(fingerprint, ${FINGERPRINT_LENGTH})`;
const CREATED = `substr(fingerprint, ${FINGERPRINT_LENGTH + 1})`;
/** A key that was stored just now. */
export const NEW_KEY = `key, ${FINGERPRINT} as fingerprint, ${CREATED} as created, book_id as id`;
/** The key of a request, without what it has created for others. @param isSame a condition for the fingerprint, such as `= $1` */
export const keyOf = (isSame: string) =>
  `key, ${FINGERPRINT} as fingerprint, case when ${FINGERPRINT} ${isSame} then ${CREATED} else '' end as created, book_id as id`;

/** Finds idempotency keys, and deletes expired ones. @param isSame as for {@link keyOf} */
const knownKeys = (condition: string, isSame: string) => `
  live as materialized (
    select ${keyOf(isSame)} from idempotency_keys where ${condition} and not (${IS_EXPIRED})
  ), removed as (
    delete from idempotency_keys where ${condition} and ${IS_EXPIRED} returning key
  )
`;
/** Whether a key may be inserted. The count makes the server delete expired keys before. */
const isNew = (key: string) => `
  (select count(*) from removed) >= 0 and not exists (select from live where live.key = ${key})
`;
const KEYS_OF_ALL = 'select * from live union all select * from keyed';

/**
 * Inserts books with idempotency keys that are new or expired. It violates the primary key if another session inserts one of the
 * keys at the same time, and divides by zero if a trigger does not store one of several books.
 */
export const INSERT_ONCE: BatchStatement = {
  name: 'create once',
  text: `
  with ${knownKeys('key = any((select $4::text[])::text[])', '= any((select $5::text[])::text[])')}, given as materialized (
    select *, row_number() over (order by position) as nth
    from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[]) with ordinality
      as given (title, author, year, key, fingerprint, position)
    where ${isNew('given.key')}
  ), stored as (
    insert into books (title, author, year) select title, author, year from given order by nth
    returning ${BOOK_COLUMNS}
  ), created as (
    select id, row_to_json(stored)::text as json, row_number() over () as nth from stored
  ), keyed as (
    insert into idempotency_keys (key, fingerprint, book_id)
    select key, fingerprint || json, id
    from given join created using (nth)
    where ${IS_WHOLE}
    order by key
    returning ${NEW_KEY}
  )
  ${KEYS_OF_ALL}
`,
  one: `
  with ${knownKeys('key = $4::text', '= $5::text')}, created as (
    insert into books (title, author, year) select $1::text, $2::text, $3::bigint where ${isNew('$4::text')}
    returning ${BOOK_COLUMNS}
  ), keyed as (
    insert into idempotency_keys (key, fingerprint, book_id)
    select $4::text, $5::text || row_to_json(created)::text, id from created
    returning ${NEW_KEY}
  )
  ${KEYS_OF_ALL}
`,
};

const createdIf = (condition: string) => `
  given as materialized (
    select book ->> 'title' as title, book ->> 'author' as author, (book ->> 'year')::bigint as year, position
    from json_array_elements($1::json) with ordinality as given (book, position)
    where ${condition}
  ), created as (
    insert into books (title, author, year) select title, author, year from given order by position
    returning ${BOOK_COLUMNS}
  )
`;
const IS_ALL_CREATED = isWhole('(select count(*) from given)', 'created');
const RENDER_CREATED = `coalesce(string_agg(row_to_json(created)::text, ',' order by id), '')`;
/** It divides by zero like {@link INSERT_ONCE}. */
export const INSERT_MANY: Statement = {
  name: 'create many',
  text: `with ${createdIf('true')} select ${RENDER_CREATED} as json, ${IS_ALL_CREATED} as "isWhole" from created`,
};

/** What a key keeps of the books that it has created. @param fingerprint a parameter */
export const keptBooks = (fingerprint: string) =>
  `select ${fingerprint} || '[' || ${RENDER_CREATED} || ']' as kept, coalesce(min(id), 0) as first from created`;

/**
 * Inserts books with an idempotency key, if it is new or expired. It violates the primary key, and divides by zero, like
 * {@link INSERT_ONCE}.
 */
export const INSERT_MANY_ONCE: Statement = {
  name: 'create many once',
  text: `
  with ${knownKeys('key = $2::text', '= $3::text')}, ${createdIf(isNew('$2::text'))}, keyed as (
    insert into idempotency_keys (key, fingerprint, book_id)
    select $2::text, kept, first from (${keptBooks('$3::text')}) as books
    where ${isNew('$2::text')} and ${IS_ALL_CREATED}
    returning ${NEW_KEY}
  )
  ${KEYS_OF_ALL}
`,
};

/** It divides by zero like {@link isWhole}. */
export const INSERT_PLAIN = `
  with stored as (${INSERT_ALL} returning 1)
  select ${isWhole('cardinality($1::text[])', 'stored')}
`;

export const INSERT_WITH_IDS = `
  insert into books (id, title, author, year) overriding system value
  select id, title, author, year
  from unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[]) with ordinality
    as given (id, title, author, year, position)
  order by position
  on conflict (id) do nothing
  returning id
`;

export const DELETE_EXPIRED_KEYS: Statement = {
  name: 'remove keys',
  text: `
  delete from idempotency_keys where key in (${keysToRemove(IS_EXPIRED)}) returning key
`,
};
/**
 * The ids of a batch. The subquery hides from PostgreSQL how many they are. A plan for three ids seems better to it than the
 * prepared one, which is for ten; so it would plan each batch of three again, which takes longer than to execute it.
 */
const IDS = '(select $1::bigint[])';
export const SELECT: BatchStatement = {
  name: 'find',
  text: `select ${BOOK_COLUMNS} from books where id = any(${IDS}::bigint[])`,
  one: `select ${BOOK_COLUMNS} from books where id = $1::bigint`,
};
/** The length of a book in a page if JSON escapes none of its characters; and the most that it can be, which costs less to tell. */
const PLAIN_BYTES = `(${TEXT_BYTES} + octet_length(id::text) + octet_length(${exact('year')}::text) + ${'{"id":,"title":"","author":"","year":},'.length})`;
const PLAIN_BYTES_MAX = `(${TEXT_BYTES} + 72)`;
/**
 * A page ends at a number of books, or before their JSON has more bytes. Only if so many books may have more are those counted that fit.
 * It has a JSON array for each column: PostgreSQL takes twice the time for JSON objects of the books.
 */
const pageOf = (after: string, limit: string, bytes: string) => {
  const next = (columns: string, count: string) =>
    `(select ${columns} from books where id > ${after} and ${HAS_EXACT_ID} order by id limit ${count}) as next`;
  const fitting = `
    case when (select sum(bytes) from ${next(`${PLAIN_BYTES_MAX} as bytes`, limit)}) <= ${bytes} then ${limit}
      else (
        select greatest(count(*), 1)
        from (select sum(bytes) over (order by id) - 1 as total from ${next(`id, ${PLAIN_BYTES} as bytes`, limit)}) as sums
        where total <= ${bytes}
      )
    end`;
  return `
    select last, ids, titles, authors, years, exists (select from books where id > last and ${HAS_EXACT_ID}) as more
    from (
      select max(id) as last, json_agg(id) as ids, json_agg(title) as titles, json_agg(author) as authors,
        json_agg(year) as years
      from ${next(BOOK_COLUMNS, fitting)}
    ) as page
  `;
};
export const SELECT_PAGE: BatchStatement = {
  name: 'list',
  text: `
  select page.*
  from unnest($1::bigint[], $2::bigint[], $3::bigint[]) with ordinality as given (after_id, books_max, bytes_max, position)
    cross join lateral (${pageOf('given.after_id', 'given.books_max', 'given.bytes_max')}) as page
  order by given.position
`,
  one: pageOf('$1::bigint', '$2::bigint', '$3::bigint'),
};

/** The items of a batch, in the order of their ids: if batches of several processes change rows in it, they do not deadlock. */
function given(arrays: string, columns: string): string {
  return `(select ${columns} from unnest(${arrays}) as item (${columns}) order by id) as given`;
}

/** Null keeps the value. */
const changesTo = (title: string, author: string, year: string) => `
    title = coalesce(${title}, books.title),
    author = coalesce(${author}, books.author),
    year = coalesce(${year}, books.year)
`;
const CHANGES = changesTo('given.title', 'given.author', 'given.year');
const UPDATE_ONE = `update books set ${changesTo('$2::text', '$3::text', '$4::bigint')} where books.id = $1::bigint`;
export const UPDATE: BatchStatement = {
  name: 'update',
  text: `
  update books set ${CHANGES}
  from ${given(`${IDS}, $2::text[], $3::text[], $4::bigint[]`, 'id, title, author, year')}
  where books.id = given.id
  returning ${BOOK_COLUMNS}
`,
  one: `${UPDATE_ONE} returning ${BOOK_COLUMNS}`,
};
const DELETE_ONE = 'delete from books where books.id = $1::bigint';
export const DELETE: BatchStatement = {
  name: 'delete',
  text: `
  delete from books using ${given(IDS, 'id')}
  where books.id = given.id
  returning books.id
`,
  one: `${DELETE_ONE} returning books.id`,
};

/** After waiting for another transaction, the server evaluates this condition again on the new version of the row. */
const isExpected = (title: string, author: string, year: string) => `
  (coalesce(books.title, ''), coalesce(books.author, ''), ${exact('books.year')}) = (${title}, ${author}, ${year})
`;
const IS_EXPECTED = isExpected('expected_title', 'expected_author', 'expected_year');
export const UPDATE_EXPECTED: BatchStatement = {
  name: 'update expected',
  text: `
  update books set ${CHANGES}
  from ${given(
    `${IDS}, $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::bigint[]`,
    'id, title, author, year, expected_title, expected_author, expected_year',
  )}
  where books.id = given.id and ${IS_EXPECTED}
  returning ${BOOK_COLUMNS}
`,
  one: `${UPDATE_ONE} and ${isExpected('$5::text', '$6::text', '$7::bigint')} returning ${BOOK_COLUMNS}`,
};
export const DELETE_EXPECTED: BatchStatement = {
  name: 'delete expected',
  text: `
  delete from books
  using ${given(`${IDS}, $2::text[], $3::text[], $4::bigint[]`, 'id, expected_title, expected_author, expected_year')}
  where books.id = given.id and ${IS_EXPECTED}
  returning books.id
`,
  one: `${DELETE_ONE} and ${isExpected('$2::text', '$3::text', '$4::bigint')} returning books.id`,
};

/** The text that `entityTag` in src/book/entity-tag.ts digests. */
const taggedText = (book: string) => {
  const [title, author, year] = [
    `coalesce(${book}.title, '')`,
    `coalesce(${book}.author, '')`,
    exact(`${book}.year`),
  ];
  return `${book}.id::text || ' ' || ${year}::text || ' ' || octet_length(${title})::text || ' ' || ${title} || ${author}`;
};
/** Whether a book has one of the tags, or there are none. */
export const isTagged = (book: string) => `(tags is null or strpos(tags, '"' || translate(left(
  encode(sha256(convert_to(${taggedText(book)}, 'UTF8')), 'base64'), ${TAG_DIGITS}), '+/', '-_') || '"') > 0)`;
export const digestOf = (book: string) => `md5(${taggedText(book)})`;

/** `UpdateItem`s in the order of their ids, see {@link given}. */
export const GIVEN_UPDATES = `
  given as materialized (
    select *
    from rows from (
      json_to_recordset($1::json) as (id bigint, title text, author text, year bigint, "isDeleted" boolean, tags text)
    ) with ordinality as item (id, title, author, year, "isDeleted", tags, position)
    order by id
  )
`;
/** The bytes of a book as JSON after its update. */
export const sentBytes = (book: string) => `
  (select octet_length(row_to_json(sent)::text) from (
    select ${book}.id, coalesce(given.title, ${book}.title) as title, coalesce(given.author, ${book}.author) as author,
      coalesce(given.year, ${book}.year) as year
  ) as sent)
`;
export const updatesIf = (condition: string) => `
  updated as (
    update books set ${CHANGES} from given
    where books.id = given.id and "isDeleted" is null and ${condition}
    returning ${BOOK_COLUMNS}
  ), deleted as (
    delete from books using given
    where books.id = given.id and "isDeleted" and ${condition}
    returning books.id
  )
`;
export const RENDER_UPDATED = `
  select coalesce(string_agg(coalesce(row_to_json(updated)::text, 'null'), ',' order by position), '') as json
  from given left join updated using (id)
`;

/** The ids of the books that a transaction changes, for the triggers of the history: the log has them in this order. */
export const ORDER_SETTING = 'bookkeeping.order';

/**
 * Locks the books, so that they stay as they were when the conditions were evaluated; then changes all of them, or none. It divides by
 * zero like {@link isWhole}.
 */
export const UPDATE_MANY: Statement = {
  name: 'update many',
  text: `
  with ${GIVEN_UPDATES}, found as materialized (
    select ${BOOK_COLUMNS} from given join books on books.id = given.id order by books.id for update of books
  ), extent as materialized (
    select coalesce(sum(${TEXT_BYTES}), 0) > ${UPDATED_BYTES_MAX} as "isTooLong" from found
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
  where 1 / (case
    when exists (select from fault) then 1
    when (select count(*) from given) = (select count(*) from updated) + (select count(*) from deleted) then 1
    else 0 end) = 1
`,
};

/** The row of {@link UPDATE_MANY}. */
export interface UpdatedRow {
  readonly json: string;
  readonly fault: UpdateFault['fault'] | null;
  readonly index: number;
}

const [OPEN, COMMA, CLOSE] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];

/** Joins JSON arrays to one. */
export function joinArrays(arrays: readonly Uint8Array[]): Buffer {
  const elements = arrays
    .flatMap((array) => (array.length > 2 ? [COMMA, array.subarray(1, -1)] : []))
    .slice(1);
  return Buffer.concat([OPEN, ...elements, CLOSE]);
}

export function idsOf<Id>(rows: readonly { readonly id: Id }[]): Id[] {
  return rows.map(({ id }) => id);
}

/** The fields of books as arrays, one for each column; an absent field is null. */
export function columnsOf(books: readonly Partial<BookFields>[]): unknown[][] {
  return [
    books.map(({ title = null }) => title),
    books.map(({ author = null }) => author),
    books.map(({ year = null }) => year),
  ];
}

export function matchIds<Row extends { readonly id: number }>(
  ids: readonly number[],
  rows: readonly Row[],
): (Row | undefined)[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}
