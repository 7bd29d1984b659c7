import type { Book, BookFields } from '../../../book/book.ts';
import type { UpdateFault } from '../../../book/book-store.ts';
import type { Database } from '../pool/database.ts';
import * as sql from '../sql.ts';

export interface Update {
  readonly id: number;
  readonly fields: Partial<BookFields>;
}

export interface ExpectedUpdate {
  readonly expected: Book;
  readonly fields: Partial<BookFields>;
}

export function updateBooks(database: Database, updates: readonly Update[]): Promise<(Book | undefined)[]> {
  return run(database, sql.UPDATE, sql.idsOf(updates), sql.columnsOf(updates.map(({ fields }) => fields)));
}

export function updateExpectedBooks(
  database: Database,
  updates: readonly ExpectedUpdate[],
): Promise<(Book | undefined)[]> {
  const books = updates.map(({ expected }) => expected);
  const fields = sql.columnsOf(updates.map((update) => update.fields));
  return run(database, sql.UPDATE_EXPECTED, sql.idsOf(books), [...fields, ...sql.columnsOf(books)]);
}

export async function deleteBooks(database: Database, ids: readonly number[]): Promise<boolean[]> {
  return (await run(database, sql.DELETE, ids, [])).map(isDeleted);
}

export async function deleteExpectedBooks(database: Database, books: readonly Book[]): Promise<boolean[]> {
  return (await run(database, sql.DELETE_EXPECTED, sql.idsOf(books), sql.columnsOf(books))).map(isDeleted);
}

/** Changes all of the books, or none, in one statement. */
export async function updateAll(
  database: Database,
  arrays: readonly Uint8Array[],
): Promise<Uint8Array[] | UpdateFault> {
  const [row] = await database.query<sql.UpdatedRow>(sql.UPDATE_MANY, [sql.joinArrays(arrays)]);
  if (!row) throw new Error('changes without a row');
  const { json, fault, index } = row;
  return fault === null ? [Buffer.from(json)] : { fault, index };
}

function isDeleted(row: object | undefined): boolean {
  return row !== undefined;
}

/** @returns the rows of a statement in the order of the ids */
async function run<Row extends { readonly id: number }>(
  database: Database,
  statement: sql.BatchStatement,
  ids: readonly number[],
  columns: sql.Columns,
): Promise<(Row | undefined)[]> {
  return sql.matchIds(ids, await database.queryBatch<Row>(statement, [ids, ...columns]));
}
