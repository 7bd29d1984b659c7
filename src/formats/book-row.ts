import { type BookFields, EMPTY_BOOK } from '../book/book.ts';
import { readJsonObject } from '../book/json-object.ts';
import type { Mapping } from './mapping.ts';
import { withoutMark } from './rendering.ts';
import type { Fault, Field, RawRow } from './row.ts';
import { readWholeNumber, readYear } from './year.ts';

/** A book of a file, with its id where ids are read. */
export type BookOfFile = BookFields & { readonly id?: number };

/** What a row is to an import: a book, or the reason why it is none. */
export type BookRow = { readonly line: number; readonly element?: number } & (
  | { readonly book: BookOfFile }
  | { readonly fault: Fault; readonly row: RawRow }
);

/**
 * Makes the reader of the rows of a file. It goes by the rules for the body of a request; a cell of CSV is a text, so its
 * year is read from it (see {@link readYear}).
 *
 * @param columns those of the file, if it is CSV
 */
export function bookReader(columns: readonly string[], mapping: Mapping): (row: RawRow) => BookRow {
  const readCells = cellsReader(columns, mapping);
  const readJson = jsonReader(mapping);
  return (row) => {
    const { line, element } = row;
    const result = 'cells' in row ? readCells(row.cells) : 'json' in row ? readJson(row.json) : row.fault;
    const position = element === undefined ? { line } : { line, element };
    return 'kind' in result ? { ...position, fault: result, row } : { ...position, book: result };
  };
}

function cellsReader(columns: readonly string[], mapping: Mapping) {
  const indexOf = (column = '') => columns.indexOf(column);
  const titleAt = indexOf(mapping.title);
  const authorAt = indexOf(mapping.author);
  const yearAt = indexOf(mapping.year);
  const idAt = indexOf(mapping.id);
  const expected = columns.length;

  return (cells: readonly string[]): BookOfFile | Fault => {
    const found = cells.length;
    // Empty cells at the end do no harm.
    const isShaped = found === expected || (found > expected && cells.slice(expected).join('') === '');
    if (!isShaped) return { kind: 'cells', found, expected };
    const title = withoutMark(cells[titleAt] ?? EMPTY_BOOK.title);
    const author = withoutMark(cells[authorAt] ?? EMPTY_BOOK.author);
    const yearText = cells[yearAt] ?? '';
    const year = readYear(yearText);
    if (!isText(title)) return { kind: 'text', field: 'title' };
    if (!isText(author)) return { kind: 'text', field: 'author' };
    if (year === undefined) return { kind: 'year', value: shown(yearText) };
    const isEmpty = title === '' && author === '' && yearText.trim() === '';
    const id = idAt < 0 ? undefined : (readWholeNumber(cells[idAt] ?? '') ?? Number.NaN);
    return toBook({ title, author, year }, isEmpty, id, cells[idAt]);
  };
}

function jsonReader(mapping: Mapping) {
  // The names of members count in any ASCII case, as in a request.
  const nameOf = (field: Field | 'id') => mapping[field]?.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const title = nameOf('title');
  const author = nameOf('author');
  const year = nameOf('year');
  const id = nameOf('id');
  const spec: Record<string, 'text' | 'integer'> = {};
  if (title !== undefined) spec[title] = 'text';
  if (author !== undefined) spec[author] = 'text';
  if (year !== undefined) spec[year] = 'integer';
  if (id !== undefined) spec[id] = 'integer';

  return (json: Uint8Array): BookOfFile | Fault => {
    const values = readJsonObject(json, spec);
    if (!values) return faultOf(json, { title, author, year, id });
    const read = (name = '') => values[name];
    const book = {
      title: (read(title) as string | undefined) ?? EMPTY_BOOK.title,
      author: (read(author) as string | undefined) ?? EMPTY_BOOK.author,
      year: ((read(year) as number | undefined) ?? EMPTY_BOOK.year) + 0,
    };
    const isEmpty = book.title === '' && book.author === '' && read(year) === undefined;
    const idRead = id === undefined ? undefined : ((read(id) as number | undefined) ?? Number.NaN);
    return toBook(book, isEmpty, idRead, read(id));
  };
}

/** @param id the id of the book, where ids are read; NaN when there is none */
function toBook(
  book: BookFields,
  isEmpty: boolean,
  id: number | undefined,
  idCell: unknown,
): BookOfFile | Fault {
  if (isTooLong(book)) return { kind: 'book-too-long' };
  if (id === undefined) return isEmpty ? { kind: 'nothing' } : book;
  return id >= 1 ? { id, ...book } : { kind: 'id', value: shown(idCell) };
}

/** What is wrong with bytes that are not an object with these members. */
function faultOf(json: Uint8Array, names: Mapping): Fault {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(json);
  } catch {
    return { kind: 'not-utf8' };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'not-json' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { kind: 'not-object' };
  for (const field of ['title', 'author'] as const) {
    const name = names[field];
    if (name !== undefined && !readJsonObject(json, { [name]: 'text' })) return { kind: 'text', field };
  }
  const isYear = names.year !== undefined && !readJsonObject(json, { [names.year]: 'integer' });
  const kind = isYear ? 'year' : 'id';
  return { kind, value: shown(memberOf(value, names[kind] ?? '')) };
}

/** The last member of this name, in any case. */
function memberOf(object: object, name: string): unknown {
  return Object.entries(object).findLast(([each]) => each.toLowerCase() === name.toLowerCase())?.[1];
}

function isText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** The most of a value that is quoted to people. */
const SHOWN_LENGTH = 60;

/** A value for people: a text as it is, another value as JSON. */
export function shown(value: unknown, lengthMax = SHOWN_LENGTH): string {
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;
}

/** What the service accepts as the body of one book, in bytes. */
const BOOK_BYTES_MAX = 1_024 * 1_024;

/** The most bytes of a character in JSON, as an escape. */
const BYTES_PER_CHARACTER = 6;

function isTooLong(book: BookFields): boolean {
  const length = book.title.length + book.author.length;
  if (length * BYTES_PER_CHARACTER < BOOK_BYTES_MAX / 2) return false;
  return new TextEncoder().encode(JSON.stringify(book)).length > BOOK_BYTES_MAX;
}
