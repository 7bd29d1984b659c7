import { BOOK_FIELD_TYPES, type BookFields, EMPTY_BOOK, findLongText } from '../book/book.ts';
import { InvalidJson, isText, readJsonObject, toAsciiLowerCase } from '../json/json-object.ts';
import { type Mapping, otherYearColumn } from './mapping.ts';
import { unescapeFormula } from './rendering.ts';
import { FIELDS, type Field, type RawRow, type RowError, type RowPosition } from './row.ts';
import { readInteger, readYear } from './year.ts';

export type ImportedBook = BookFields & { readonly id?: number };

export type BookRow = RowPosition &
  ({ readonly book: ImportedBook } | { readonly error: RowError; readonly row: RawRow });

const FIELD_TYPES = { ...BOOK_FIELD_TYPES, id: 'integer' } as const;

/** Creates a reader of rows. JSON is read like the body of a request; for the year in a cell of CSV see {@link readYear}. */
export function bookReader(columns: readonly string[], mapping: Mapping): (row: RawRow) => BookRow {
  const readCells = cellsReader(columns, mapping);
  const readJson = jsonReader(mapping);
  return (row) => {
    const { line, element } = row;
    const result = 'cells' in row ? readCells(row.cells) : 'json' in row ? readJson(row.json) : row.error;
    const position = element === undefined ? { line } : { line, element };
    return 'kind' in result ? { ...position, error: result, row } : { ...position, book: result };
  };
}

function cellsReader(columns: readonly string[], mapping: Mapping) {
  const indexOf = (field: Field | 'id') => columns.indexOf(mapping[field] ?? '');
  const titleAt = indexOf('title');
  const authorAt = indexOf('author');
  const yearAt = indexOf('year');
  const otherYearAt = columns.indexOf(otherYearColumn(columns, mapping) ?? '');
  const idAt = indexOf('id');
  const expected = columns.length;

  return (cells: readonly string[]): ImportedBook | RowError => {
    const found = cells.length;
    // Further cells may be empty.
    const isShaped = found === expected || (found > expected && cells.slice(expected).join('') === '');
    if (!isShaped) return { kind: 'cell-count', found, expected };
    const title = unescapeFormula(cells[titleAt] ?? EMPTY_BOOK.title);
    const author = unescapeFormula(cells[authorAt] ?? EMPTY_BOOK.author);
    const yearText = cells[yearAt] || cells[otherYearAt] || '';
    const year = readYear(yearText);
    if (!isText(title)) return { kind: 'text', field: 'title' };
    if (!isText(author)) return { kind: 'text', field: 'author' };
    if (year === undefined) return { kind: 'year', value: displayText(yearText) };
    const id = idAt < 0 ? undefined : (readInteger(cells[idAt] ?? '') ?? Number.NaN);
    return toBook({ title, author, year }, yearText.trim() !== '', id, cells[idAt]);
  };
}

function jsonReader(mapping: Mapping) {
  const names: Partial<Record<Field | 'id', string>> = {};
  const spec: Record<string, 'text' | 'integer'> = {};
  for (const field of [...FIELDS, 'id' as const]) {
    const name = mapping[field] === undefined ? undefined : toAsciiLowerCase(mapping[field]);
    if (name === undefined) continue;
    names[field] = name;
    spec[name] = FIELD_TYPES[field];
  }

  return (json: Uint8Array): ImportedBook | RowError => {
    const values = readJsonObject(json, spec);
    if (values instanceof InvalidJson) return errorOf(values, names);
    const memberOf = (field: Field | 'id') => values[names[field] ?? ''];
    const title = (memberOf('title') ?? EMPTY_BOOK.title) as string;
    const author = (memberOf('author') ?? EMPTY_BOOK.author) as string;
    // Adding 0 makes -0 0.
    const year = ((memberOf('year') ?? EMPTY_BOOK.year) as number) + 0;
    const id = names.id === undefined ? undefined : ((memberOf('id') ?? Number.NaN) as number);
    return toBook({ title, author, year }, memberOf('year') !== undefined, id, memberOf('id'));
  };
}

/** @param id undefined when ids are not read, NaN when `idValue` is none */
function toBook(
  book: BookFields,
  hasYear: boolean,
  id: number | undefined,
  idValue: unknown,
): ImportedBook | RowError {
  const long = findLongText(book);
  if (long) return { kind: 'text-too-long', field: long };
  const isEmpty = book.title === '' && book.author === '' && !hasYear;
  if (id === undefined) return isEmpty ? { kind: 'empty' } : book;
  return id >= 1 ? { id, ...book } : { kind: 'id', value: displayText(idValue) };
}

function errorOf({ reason }: InvalidJson, names: Partial<Record<Field | 'id', string>>): RowError {
  if (typeof reason === 'string') return { kind: reason };
  const field = FIELDS.find((known) => names[known] === reason.name) ?? 'id';
  return field === 'title' || field === 'author'
    ? { kind: 'text', field }
    : { kind: field, value: displayText(reason.value) };
}

/** A value for display: a text unchanged, another value as JSON, both truncated. */
export function displayText(value: unknown, lengthMax = 60): string {
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;
}
