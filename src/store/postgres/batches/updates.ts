import type { Book, BookFields } from '../../../book/book.ts';
import { BOOK_COLUMNS, exact, idsOf, matchIds, toColumns } from '../book-columns.ts';
import type { BatchStatement, Columns, Database } from '../pool/database.ts';
import { IDS } from './finds.ts';

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
export const CHANGES = changesTo('given.title', 'given.author', 'given.year');
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

export interface Update {
  readonly id: number;
  readonly fields: Partial<BookFields>;
}

export interface ExpectedUpdate {
  readonly expected: Book;
  readonly fields: Partial<BookFields>;
}

export function updateBooks(database: Database, updates: readonly Update[]): Promise<(Book | undefined)[]> {
  return changeBooks(database, UPDATE, idsOf(updates), toColumns(updates.map(({ fields }) => fields)));
}

export function updateExpectedBooks(
  database: Database,
  updates: readonly ExpectedUpdate[],
): Promise<(Book | undefined)[]> {
  const books = updates.map(({ expected }) => expected);
  const fields = toColumns(updates.map((update) => update.fields));
  return changeBooks(database, UPDATE_EXPECTED, idsOf(books), [...fields, ...toColumns(books)]);
}

export async function deleteBooks(database: Database, ids: readonly number[]): Promise<boolean[]> {
  return (await changeBooks(database, DELETE, ids, [])).map(isDeleted);
}

export async function deleteExpectedBooks(database: Database, books: readonly Book[]): Promise<boolean[]> {
  return (await changeBooks(database, DELETE_EXPECTED, idsOf(books), toColumns(books))).map(isDeleted);
}

function isDeleted(row: object | undefined): boolean {
  return row !== undefined;
}

/** Runs a statement on the books of these ids. @returns its rows in the order of the ids */
async function changeBooks<Row extends { readonly id: number }>(
  database: Database,
  statement: BatchStatement,
  ids: readonly number[],
  columns: Columns,
): Promise<(Row | undefined)[]> {
  return matchIds(ids, await database.queryBatch<Row>(statement, [ids, ...columns]));
}
