import type { BookFields } from '../../book/book.ts';
import { KEY_LIFETIME_SECONDS } from '../idempotency.ts';
import type { PageRow } from '../page.ts';
import { PAGE_TEXT_BYTES_MAX, REMOVAL_MAX } from '../store-limits.ts';

/** The statements on books. The items of a batch are arrays, one for each column. */

export interface Statement {
  /** The name of the prepared statement; without it the statement is not prepared. */
  readonly name?: string;
  readonly text: string;
}

/** Adopted tables may contain NULL, which is read as empty. */
export const BOOK_COLUMNS = `books.id, coalesce(books.title, '') as title, coalesce(books.author, '') as author, coalesce(books.year, 0) as year`;

/** The length of a book, without reading its texts. */
export const TEXT_BYTES = 'coalesce(octet_length(title), 0) + coalesce(octet_length(author), 0)';

export const INSERT: Statement = {
  name: 'create',
  text: `
  insert into books (title, author, year)
  select title, author, year
  from unnest($1::text[], $2::text[], $3::bigint[]) with ordinality as given (title, author, year, position)
  order by position
  returning ${BOOK_COLUMNS}
`,
};

/** Inserts books with idempotency keys; violates the primary key when a key exists. Equal books are numbered. */
export const INSERT_ONCE: Statement = {
  name: 'create once',
  text: `
  with given as (
    select *, row_number() over (partition by title, author, year order by position) as nth
    from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[]) with ordinality
      as given (title, author, year, key, fingerprint, position)
  ), created as (
    insert into books (title, author, year) select title, author, year from given order by position
    returning id, title, author, year
  ), numbered as (
    select *, row_number() over (partition by title, author, year order by id) as nth from created
  )
  insert into idempotency_keys (key, fingerprint, book_id)
  select key, fingerprint, id from given join numbered using (title, author, year, nth) order by key
  returning key, book_id as id
`,
};

export const INSERT_MANY: Statement = {
  name: 'create many',
  text: `
  with created as (
    insert into books (title, author, year)
    select book ->> 'title', book ->> 'author', (book ->> 'year')::bigint
    from json_array_elements($1::json) with ordinality as given (book, position)
    order by position
    returning id, title, author, year
  )
  select coalesce(string_agg(row_to_json(created)::text, ',' order by id), '') as json from created
`,
};

export const INSERT_PLAIN = INSERT.text.replace(/returning .*/, '');

export const INSERT_WITH_IDS = `
  insert into books (id, title, author, year)
  select id, title, author, year
  from unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[]) with ordinality
    as given (id, title, author, year, position)
  order by position
  on conflict (id) do nothing
  returning id
`;

const IS_EXPIRED = `created_at <= now() - interval '${KEY_LIFETIME_SECONDS} seconds'`;
export const SELECT_KEY: Statement = {
  name: 'find key',
  text: `select fingerprint, book_id as id from idempotency_keys where key = $1 and not (${IS_EXPIRED})`,
};
export const DELETE_EXPIRED_KEY: Statement = {
  name: 'remove key',
  text: `delete from idempotency_keys where key = $1 and ${IS_EXPIRED}`,
};
export const DELETE_EXPIRED_KEYS: Statement = {
  name: 'remove keys',
  text: `
  delete from idempotency_keys
  where key in (select key from idempotency_keys where ${IS_EXPIRED} order by created_at limit ${REMOVAL_MAX})
  returning key
`,
};
export const SELECT: Statement = {
  name: 'find',
  text: `select ${BOOK_COLUMNS} from books where id = any($1::bigint[])`,
};
export const SELECT_PAGE: Statement = {
  name: 'list',
  text: `
  with extent as materialized (
    select count(*) as count, max(id) as last, sum(octet_length(title) + octet_length(author)) as bytes
    from (select ${BOOK_COLUMNS} from books where id > $1 order by id limit $2) as page
  )
  select count, last, (
    select string_agg(row_to_json(page)::text, ',' order by id)
    from (select ${BOOK_COLUMNS} from books where id > $1 and id <= last) as page
    where bytes <= ${PAGE_TEXT_BYTES_MAX} or $2 = 1
  ) as json
  from extent
`,
};

/** Books by ids, in the order of the ids. */
export const RENDER: Statement = {
  text: `
  select count(*) as count, string_agg(row_to_json(page)::text, ',' order by given.position) as json
  from unnest($1::bigint[]) with ordinality as given (id, position)
    cross join lateral (select ${BOOK_COLUMNS} from books where books.id = given.id) as page
`,
};

/** The items of a batch, in the order of their ids: if batches of several processes change rows in it, they do not deadlock. */
function given(arrays: string, columns: string): string {
  return `(select ${columns} from unnest(${arrays}) as item (${columns}) order by id) as given`;
}

/** Null keeps the value. */
const CHANGES = `
    title = coalesce(given.title, books.title),
    author = coalesce(given.author, books.author),
    year = coalesce(given.year, books.year)
`;
export const UPDATE: Statement = {
  name: 'update',
  text: `
  update books set ${CHANGES}
  from ${given('$1::bigint[], $2::text[], $3::text[], $4::bigint[]', 'id, title, author, year')}
  where books.id = given.id
  returning ${BOOK_COLUMNS}
`,
};
export const DELETE: Statement = {
  name: 'delete',
  text: `
  delete from books using ${given('$1::bigint[]', 'id')}
  where books.id = given.id
  returning books.id
`,
};

/** After waiting for another transaction, the server evaluates this condition again on the new version of the row. */
const IS_EXPECTED = `
  (coalesce(books.title, ''), coalesce(books.author, ''), coalesce(books.year, 0)) =
  (expected_title, expected_author, expected_year)
`;
export const UPDATE_EXPECTED: Statement = {
  name: 'update expected',
  text: `
  update books set ${CHANGES}
  from ${given(
    '$1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::bigint[]',
    'id, title, author, year, expected_title, expected_author, expected_year',
  )}
  where books.id = given.id and ${IS_EXPECTED}
  returning ${BOOK_COLUMNS}
`,
};
export const DELETE_EXPECTED: Statement = {
  name: 'delete expected',
  text: `
  delete from books
  using ${given('$1::bigint[], $2::text[], $3::text[], $4::bigint[]', 'id, expected_title, expected_author, expected_year')}
  where books.id = given.id and ${IS_EXPECTED}
  returning books.id
`,
};

export function idsOf<Id>(rows: readonly { readonly id: Id }[]): Id[] {
  return rows.map(({ id }) => id);
}

/** The fields of books as arrays, one for each column; an absent field is null. */
export function columnsOf(books: readonly Partial<BookFields>[]): unknown[] {
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

/** The row of {@link SELECT_PAGE}. */
export interface RenderedRow {
  readonly count: number;
  readonly last: number;
  json: string | null;
}

export function toPageRow([row]: readonly RenderedRow[]): PageRow {
  if (!row) throw new Error('a page without a row');
  const { count, last, json } = row;
  // The results of a list reference each other until a full garbage collection: 50 MB if they keep their text.
  row.json = null;
  return { count, last, json: json === null ? null : Buffer.from(json) };
}
