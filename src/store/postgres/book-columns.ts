import { ID_MAX, YEAR_MAX } from '../../book/book.ts';
import {
  BOOK_FIELD_TYPES,
  type BookFields,
  FIELD_NAMES,
  type FieldName,
  TEXT_NAMES,
} from '../../book/contract.ts';
import { eachField } from '../each-field.ts';

/** The columns of a book, which the statements of the store, of searches and of the history share: a row of them is a book. */

/**
 * The number that the service has for one that another program has stored while it ran (the honest accident): within the range
 * that a JSON number has exactly. A start rejects a table with others.
 */
export const exact = (column: string) => `greatest(least(coalesce(${column}, 0), ${YEAR_MAX}), -${YEAR_MAX})`;

/** Other ids have no book: two of them could be the same number. */
export const HAS_EXACT_ID = `id between -${ID_MAX} and ${ID_MAX}`;

/** The field of a stored book. Adopted tables may contain NULL, which is read as empty. @param table its name or alias */
export const fieldOf = (name: FieldName, table: string) =>
  BOOK_FIELD_TYPES[name] === 'text' ? `coalesce(${table}.${name}, '')` : exact(`${table}.${name}`);

/** The columns of a book in a select list, within the range of the service. They need `books` as the name of the table. */
export const BOOK_COLUMNS = `books.id, ${eachField((name) => `${fieldOf(name, 'books')} as ${name}`)}`;

/** The length of a book, without reading its texts. @param prefix of its columns, such as `books.` */
export const textBytes = (prefix = '') =>
  TEXT_NAMES.map((name) => `coalesce(octet_length(${prefix}${name}), 0)`).join(' + ');

/** The type of the column of a field. */
export const typeOf = (name: FieldName) => ({ text: 'text', integer: 'bigint' })[BOOK_FIELD_TYPES[name]];

/** Parameters with the fields of a book, such as `$2::text, $3::text, $4::bigint`. @param first the number of the first of them */
export const fieldParameters = (first: number) =>
  eachField((name, index) => `$${first + index}::${typeOf(name)}`);

/** Parameters with what {@link toColumns} returns, such as `$2::text[], $3::text[], $4::bigint[]`. */
export const columnParameters = (first: number) =>
  eachField((name, index) => `$${first + index}::${typeOf(name)}[]`);

/** The fields of books as arrays, one for each column; an absent field is null. */
export function toColumns(books: readonly Partial<BookFields>[]): unknown[][] {
  return FIELD_NAMES.map((name) => books.map((book) => book[name] ?? null));
}

export function idsOf<Id>(rows: readonly { readonly id: Id }[]): Id[] {
  return rows.map(({ id }) => id);
}

/** The rows in the order of the ids, which are numbers by the settings of the connection; undefined where an id has none. */
export function matchIds<Row extends { readonly id: number }>(
  ids: readonly number[],
  rows: readonly Row[],
): (Row | undefined)[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}
