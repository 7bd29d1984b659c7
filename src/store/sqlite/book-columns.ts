import { isUtf8 } from 'node:buffer';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { ID_MAX, YEAR_MAX } from '../../book/book.ts';
import {
  BOOK_FIELD_TYPES,
  type Book,
  type BookFields,
  FIELD_NAMES,
  type FieldName,
  TEXT_NAMES,
} from '../../book/contract.ts';
import { eachField } from '../each-field.ts';

/** The columns of a book, which the statements of the store, of searches and of the history share, and the books of rows. */

/**
 * The number that the service has for one that another program has stored while it ran (the honest accident): within the range
 * that a JSON number, and `node:sqlite`, have exactly. A start rejects a table with others (see `expectBooks`).
 */
export const exact = (column: string) => `
  case
    when cast(${column} as integer) between -${YEAR_MAX} and ${YEAR_MAX} then cast(${column} as integer)
    when ${column} > 0 then ${YEAR_MAX} when ${column} < 0 then -${YEAR_MAX} else 0
  end`;

/**
 * The text that the service has for what another program has stored in a table of its own: NULL reads as empty. A BLOB or a number,
 * stored while the service ran (the honest accident), reads as text; a start rejects a table with one (see `expectBooks`).
 */
const textOf = (column: string) => `cast(coalesce(${column}, '') as text)`;

/**
 * Other ids have no book: two of them could be the same number. The `+` keeps SQLite from beginning a range here: of `id > :after` and
 * this, it would take this one, and each page of a list would read all the books before it.
 */
export const HAS_EXACT_ID = `+id between -${ID_MAX} and ${ID_MAX}`;

/** The field of a stored book. */
export const fieldOf = (name: FieldName) => (BOOK_FIELD_TYPES[name] === 'text' ? textOf(name) : exact(name));

/** The columns of a book in a select list, within the range of the service. They need `books` as the name of the table. */
export const BOOK_COLUMNS = `books.id as id, ${eachField((name) => `${fieldOf(name)} as ${name}`)}`;

/** A book as JSON. @param valueOfField an expression for each field */
export const jsonOf = (valueOfField: (name: FieldName) => string) =>
  `json_object('id', id, ${eachField((name) => `'${name}', ${valueOfField(name)}`)})`;

/** The length of a book; `octet_length` of a bare column does not read the text. */
export const TEXT_BYTES = TEXT_NAMES.map((name) => `coalesce(octet_length(${name}), 0)`).join(' + ');

/** A parameter for each field, which takes what {@link toValues} returns. */
export const FIELD_PARAMETERS = eachField(() => '?');

/** The fields of a book as parameters; an absent one is null. */
export function toValues(fields: Partial<BookFields>): (string | number | null)[] {
  return FIELD_NAMES.map((name) => fields[name] ?? null);
}

export const SELECT = `select ${BOOK_COLUMNS} from books where id = ?`;

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

export const COMMA = Buffer.from(',');

/** The JSON of books, or pages of them, with commas between. */
export function withCommas(parts: readonly Uint8Array[]): Uint8Array[] {
  return parts
    .filter(({ length }) => length > 0)
    .flatMap((json, index) => (index > 0 ? [COMMA, json] : [json]));
}

/** Joins the JSON of books. @returns memory of its own, so that it can be transferred */
export function joinBooks(books: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(withCommas(books)));
}
