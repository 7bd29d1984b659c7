import { isUtf8 } from 'node:buffer';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Book } from '../../book/book.ts';

/**
 * Prepares a statement that returns `BOOK_COLUMNS`, as arrays for {@link toBook}: the objects of `node:sqlite` are dictionaries to V8,
 * which takes longer to make them, to send them to another thread and to render them as JSON.
 */
export function prepareBook(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
}

/** @param row what `get` of a statement from {@link prepareBook} returns */
export function toBook(row: unknown): Book | undefined {
  if (row === undefined) return undefined;
  const [id, title, author, year] = row as [number, string, string, number];
  return { id, title, author, year };
}

/** JSON of SQLite, which keeps bytes that are not UTF-8 in the texts of other programs: they are replaced, as in {@link toBook}. */
export function toUtf8(json: Uint8Array): Uint8Array {
  return isUtf8(json) ? json : new TextEncoder().encode(new TextDecoder().decode(json));
}
