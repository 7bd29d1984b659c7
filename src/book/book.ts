import { Invalid } from '../json/invalid.ts';
import { readJsonObject } from '../json/json-object.ts';
import {
  BOOK_FIELD_TYPES,
  type BookFields,
  EMPTY_BOOK,
  FIELD_NAMES,
  findLongText,
  TEXT_LENGTH_MAX,
} from './contract.ts';

/** The largest id, and the largest year in either direction: JSON numbers are exact up to it (RFC 8259, section 6). */
export const ID_MAX = Number.MAX_SAFE_INTEGER;
export const YEAR_MAX = Number.MAX_SAFE_INTEGER;

/** Whether a book has all of these fields. */
export function hasFields(book: BookFields, fields: Partial<BookFields>): boolean {
  return FIELD_NAMES.every((name) => fields[name] === undefined || fields[name] === book[name]);
}

/** The fields of `after` that differ from those of `before`. */
export function changesOf(before: BookFields, after: BookFields): Partial<BookFields> {
  const changed = FIELD_NAMES.filter((name) => before[name] !== after[name]);
  return Object.fromEntries(changed.map((name) => [name, after[name]]));
}

/** Reads a request body as a new book (specification, POST /book). */
export function readBook(body: Uint8Array): BookFields | Invalid {
  const fields = readBookFields(body);
  return fields instanceof Invalid ? fields : { ...EMPTY_BOOK, ...fields };
}

/** Reads the fields that are present (specification, PUT /book/{id}). */
export function readBookFields(body: Uint8Array): Partial<BookFields> | Invalid {
  const fields = readJsonObject(body, BOOK_FIELD_TYPES);
  return fields instanceof Invalid ? fields : (invalidLength(fields) ?? fields);
}

/** What is wrong with the fields, if it is the length of a text. */
export function invalidLength(fields: Partial<BookFields>): Invalid | undefined {
  const field = findLongText(fields);
  return field && new Invalid(`${field} must have at most ${TEXT_LENGTH_MAX[field]} characters`);
}

/** Reads the `{id}` of a path. @returns undefined when no book can have it: not `^[0-9]+$`, or above {@link ID_MAX} */
export function readBookId(text: string): number | undefined {
  const id = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  return id <= ID_MAX ? id : undefined;
}
