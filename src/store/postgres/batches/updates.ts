import { type Book, type BookFields, FIELD_NAMES } from '../../../book/contract.ts';
import { eachField, FIELD_LIST } from '../../each-field.ts';
import {
  BOOK_COLUMNS,
  columnParameters,
  fieldOf,
  fieldParameters,
  idsOf,
  matchIds,
  toColumns,
  typeOf,
} from '../book-columns.ts';
import type { BatchStatement, Columns, Database } from '../pool/database.ts';
import { IDS } from './finds.ts';

/** The items of a batch, in the order of their ids: if batches of several processes change rows in it, they do not deadlock. */
function given(arrays: string, columns: string): string {
  return `(select ${columns} from unnest(${arrays}) as item (${columns}) order by id) as given`;
}

/** Null keeps the value. */
export const FIELDS_SET = eachField((name) => `${name} = coalesce(given.${name}, books.${name})`);
const FIELDS_SET_OF_ONE = eachField(
  (name, index) => `${name} = coalesce($${2 + index}::${typeOf(name)}, books.${name})`,
);
const UPDATE_ONE = `update books set ${FIELDS_SET_OF_ONE} where books.id = $1::bigint`;
export const UPDATE: BatchStatement = {
  name: 'update',
  text: `
  update books set ${FIELDS_SET}
  from ${given(`${IDS}, ${columnParameters(2)}`, `id, ${FIELD_LIST}`)}
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
const isExpected = (expected: string) => `(${eachField((name) => fieldOf(name, 'books'))}) = (${expected})`;
const EXPECTED = eachField((name) => `expected_${name}`);
const IS_EXPECTED = isExpected(EXPECTED);
/** The number of the first parameter behind the id and the new fields. */
const AFTER_FIELDS = 2 + FIELD_NAMES.length;
export const UPDATE_EXPECTED: BatchStatement = {
  name: 'update expected',
  text: `
  update books set ${FIELDS_SET}
  from ${given(
    `${IDS}, ${columnParameters(2)}, ${columnParameters(AFTER_FIELDS)}`,
    `id, ${FIELD_LIST}, ${EXPECTED}`,
  )}
  where books.id = given.id and ${IS_EXPECTED}
  returning ${BOOK_COLUMNS}
`,
  one: `${UPDATE_ONE} and ${isExpected(fieldParameters(AFTER_FIELDS))} returning ${BOOK_COLUMNS}`,
};
export const DELETE_EXPECTED: BatchStatement = {
  name: 'delete expected',
  text: `
  delete from books
  using ${given(`${IDS}, ${columnParameters(2)}`, `id, ${EXPECTED}`)}
  where books.id = given.id and ${IS_EXPECTED}
  returning books.id
`,
  one: `${DELETE_ONE} and ${isExpected(fieldParameters(2))} returning books.id`,
};

export interface Update {
  readonly id: number;
  readonly fields: Partial<BookFields>;
}

export interface ExpectedUpdate {
  readonly expected: Book;
  readonly fields: Partial<BookFields>;
}

/** Updates the books of a batch, whose ids differ. @returns them in this order; undefined where there is none */
export function updateBooks(database: Database, updates: readonly Update[]): Promise<(Book | undefined)[]> {
  return writeBooks(database, UPDATE, idsOf(updates), toColumns(updates.map(({ fields }) => fields)));
}

/** The same for books that still are as expected. */
export function updateExpectedBooks(
  database: Database,
  updates: readonly ExpectedUpdate[],
): Promise<(Book | undefined)[]> {
  const books = updates.map(({ expected }) => expected);
  const fields = toColumns(updates.map((update) => update.fields));
  return writeBooks(database, UPDATE_EXPECTED, idsOf(books), [...fields, ...toColumns(books)]);
}

/** Deletes the books of a batch. @returns for each whether it was there */
export async function deleteBooks(database: Database, ids: readonly number[]): Promise<boolean[]> {
  return (await writeBooks(database, DELETE, ids, [])).map(isDeleted);
}

/** The same for books that still are as expected. */
export async function deleteExpectedBooks(database: Database, books: readonly Book[]): Promise<boolean[]> {
  return (await writeBooks(database, DELETE_EXPECTED, idsOf(books), toColumns(books))).map(isDeleted);
}

function isDeleted(row: object | undefined): boolean {
  return row !== undefined;
}

/** Runs a statement on the books of these ids. @returns its rows in the order of the ids */
async function writeBooks<Row extends { readonly id: number }>(
  database: Database,
  statement: BatchStatement,
  ids: readonly number[],
  columns: Columns,
): Promise<(Row | undefined)[]> {
  return matchIds(ids, await database.queryBatch<Row>(statement, [ids, ...columns]));
}
