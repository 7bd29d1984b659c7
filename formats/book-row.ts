import { type BookFields, EMPTY_BOOK, findLongText } from '../src/book/contract.ts';
import { isObject, isText } from '../src/json/json-object.ts';
import { parseJson } from '../src/json/parse-json.ts';
import { unescapeFormula } from './formula.ts';
import { type Mapping, otherYearColumn } from './mapping.ts';
import { FIELDS, type Field, type RawRow, type RowError, type RowPosition, textLengthOf } from './row.ts';
import { readInteger, readYear, yearOfNumber } from './year.ts';

export type ImportedBook = BookFields & { readonly id?: number };

export type BookRow = RowPosition &
  (
    | {
        readonly book: ImportedBook;
        readonly isYearUnread?: true;
        /** Where ids are read: the fields whose members a JSON object lacks. */
        readonly absent?: readonly Field[];
      }
    | { readonly error: RowError; readonly row: RawRow }
  );

export interface BookReading {
  /**
   * Whether a row whose year cannot be read is a book of the year 0, with `isYearUnread`; a stored book keeps its year. By default it is an
   * error.
   */
  readonly acceptsUnreadYears?: boolean;
  /**
   * Whether rows with an id change the book that has it, and may have a text as long as it has; those without are new books. By default a
   * row without an id is an error where ids are read.
   */
  readonly isUpdate?: boolean;
}

/** A book of a row, with what {@link BookRow} says of it. */
type ReadBook = Pick<Extract<BookRow, { readonly book: ImportedBook }>, 'book' | 'absent'>;

/**
 * Creates a reader of rows; for years see {@link readYear}. Where ids are read, the file is a copy of a store, and a whole number in
 * it is a year even if no book can have it.
 */
export function bookReader(
  columns: readonly string[],
  mapping: Mapping,
  { acceptsUnreadYears = false, isUpdate = false }: BookReading = {},
): (row: RawRow) => BookRow {
  const read = rowReader(columns, mapping, isUpdate);
  const readWithoutYear = acceptsUnreadYears
    ? rowReader(columns, { ...mapping, year: undefined }, isUpdate)
    : undefined;
  return (row) => {
    const { line, element } = row;
    const position = element === undefined ? { line } : { line, element };
    const result = read(row);
    if ('book' in result) return { ...position, ...result };
    const other = result.kind === 'year' ? readWithoutYear?.(row) : undefined;
    if (other && 'book' in other) return { ...position, ...other, isYearUnread: true };
    return { ...position, error: result, row };
  };
}

function rowReader(
  columns: readonly string[],
  mapping: Mapping,
  isUpdate: boolean,
): (row: RawRow) => ReadBook | RowError {
  const readCells = cellsReader(columns, mapping, isUpdate);
  const readJson = jsonReader(columns, mapping, isUpdate);
  return (row) => ('cells' in row ? readCells(row.cells) : 'json' in row ? readJson(row.json) : row.error);
}

function cellsReader(columns: readonly string[], mapping: Mapping, isUpdate: boolean) {
  const indexOf = (field: Field | 'id') => columns.indexOf(mapping[field] ?? '');
  const titleAt = indexOf('title');
  const authorAt = indexOf('author');
  const yearAt = indexOf('year');
  const otherYearAt = columns.indexOf(otherYearColumn(columns, mapping) ?? '');
  const idAt = indexOf('id');
  const expected = columns.length;
  const lastUsedAt = Math.max(...FIELDS.map(indexOf), otherYearAt, idAt);
  const isCopy = mapping.id !== undefined;

  return (cells: readonly string[]): ReadBook | RowError => {
    const found = cells.length;
    // Further cells may be empty, and Excel omits empty ones at the end.
    const isShaped =
      found === expected || (found > expected ? cells.slice(expected).join('') === '' : found > lastUsedAt);
    if (!isShaped) return { kind: 'cell-count', found, expected };
    const title = unescapeFormula(cells[titleAt] ?? EMPTY_BOOK.title);
    const author = unescapeFormula(cells[authorAt] ?? EMPTY_BOOK.author);
    const yearText = cells[yearAt] || cells[otherYearAt] || '';
    const year = (isCopy ? readInteger(yearText) : undefined) ?? readYear(yearText);
    if (!isText(title)) return { kind: 'text', field: 'title' };
    if (!isText(author)) return { kind: 'text', field: 'author' };
    if (year === undefined) return { kind: 'year', value: displayText(yearText) };
    const idText = cells[idAt] ?? '';
    const hasId = idAt >= 0 && !(isUpdate && idText.trim() === '');
    const id = hasId ? (readInteger(idText) ?? Number.NaN) : undefined;
    return toBook({ title, author, year }, yearText.trim() !== '', id, idText, isUpdate);
  };
}

function jsonReader(columns: readonly string[], mapping: Mapping, isUpdate: boolean) {
  const otherYear = otherYearColumn(columns, mapping);
  const isCopy = mapping.id !== undefined;
  return (json: Uint8Array): ReadBook | RowError => {
    const parsed = parseJson(json);
    if (typeof parsed === 'string') return { kind: parsed };
    const object = parsed.value;
    if (!isObject(object)) return { kind: 'not-object' };
    const title = textOfJson(memberOf(object, mapping.title));
    const author = textOfJson(memberOf(object, mapping.author));
    let yearValue = memberOf(object, mapping.year);
    if (isAbsent(yearValue)) yearValue = memberOf(object, otherYear);
    const year =
      isCopy && Number.isSafeInteger(yearValue) ? (yearValue as number) + 0 : yearOfJson(yearValue);
    if (title === undefined) return { kind: 'text', field: 'title' };
    if (author === undefined) return { kind: 'text', field: 'author' };
    if (year === undefined) return { kind: 'year', value: displayText(yearValue) };
    const idValue = memberOf(object, mapping.id);
    const hasId = isCopy && !(isUpdate && isAbsent(idValue));
    const id = !hasId ? undefined : Number.isSafeInteger(idValue) ? (idValue as number) : Number.NaN;
    const result = toBook({ title, author, year }, !isAbsent(yearValue), id, idValue, isUpdate);
    if (!isCopy || !('book' in result)) return result;
    const memberFor = (field: Field) => (field === 'year' ? yearValue : memberOf(object, mapping[field]));
    const absent = FIELDS.filter((field) => mapping[field] !== undefined && memberFor(field) === undefined);
    return absent.length > 0 ? { ...result, absent } : result;
  };
}

/** The member of this name; else the last one that differs in case; else the member of the object in it, as `work.title`. */
function memberOf(object: Readonly<Record<string, unknown>>, name: string | undefined): unknown {
  if (name === undefined) return undefined;
  if (Object.hasOwn(object, name)) return object[name];
  const lower = name.toLowerCase();
  const other = Object.keys(object).findLast((key) => key.toLowerCase() === lower);
  if (other !== undefined) return object[other];
  const point = name.indexOf('.');
  const outer = point < 0 ? undefined : memberOf(object, name.slice(0, point));
  return isObject(outer) ? memberOf(outer, name.slice(point + 1)) : undefined;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

/** A text, a whole number, or the names of persons, joined by semicolons as names may have commas; undefined for anything else. */
function textOfJson(value: unknown): string | undefined {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return isText(value) ? value : undefined;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  if (Array.isArray(value)) {
    const texts = authorsAmong(value).map(textOfJson);
    return texts.includes(undefined) ? undefined : texts.filter((text) => text !== '').join('; ');
  }
  return isObject(value) ? nameOfPerson(value) : undefined;
}

/** Of creators whose kind is given, as in Zotero, the authors, if there is one: editors and translators are none. */
function authorsAmong(persons: readonly unknown[]): readonly unknown[] {
  const authors = persons.filter((person) => isObject(person) && person.creatorType === 'author');
  return authors.length > 0 ? authors : persons;
}

/** In Open Library, LibraryThing, CSL JSON and Zotero, and where an object has one with the name. */
const WHOLE_NAMES = [
  'name',
  'fl',
  'lf',
  'literal',
  'full_name',
  'fullName',
  'display_name',
  'displayName',
  'author',
  'person',
];
const GIVEN_NAMES = ['given', 'firstName', 'first_name', 'firstname', 'first'];
const FAMILY_NAMES = ['family', 'lastName', 'last_name', 'lastname', 'last'];
/** CSL JSON has the particles and the suffix of a name apart: Ludwig van Beethoven, Martin Luther King Jr. */
const NAME_PARTS = [
  GIVEN_NAMES,
  ['dropping-particle'],
  ['non-dropping-particle'],
  FAMILY_NAMES,
  ['suffix'],
] as const;

function nameOfPerson(person: Readonly<Record<string, unknown>>): string | undefined {
  const whole = WHOLE_NAMES.find((name) => !isAbsent(person[name]));
  if (whole !== undefined) return textOfJson(person[whole]);
  const parts = NAME_PARTS.map((names) => person[names.find((name) => !isAbsent(person[name])) ?? '']).filter(
    (part) => typeof part === 'string',
  );
  return parts.length > 0 && parts.every(isText) ? parts.join(' ').replaceAll(/(?<=['’]) /g, '') : undefined;
}

/** A number, a text (see {@link readYear}), one of these in an array, or a date of CSL JSON; 0 if there is none. */
function yearOfJson(value: unknown): number | undefined {
  if (value === undefined || value === null) return 0;
  if (typeof value === 'string') return readYear(value);
  // Adding 0 makes -0 0.
  if (Number.isSafeInteger(value)) return yearOfNumber((value as number) + 0);
  if (Array.isArray(value)) return value.length > 1 ? undefined : yearOfJson(value[0]);
  if (!isObject(value)) return undefined;
  const { 'date-parts': parts, raw, literal } = value;
  const [first] = Array.isArray(parts) ? parts : [];
  const date: unknown = Array.isArray(first) ? first[0] : (raw ?? literal);
  const hasNoParts = Array.isArray(parts) && parts.flat().length === 0;
  return date === undefined && !hasNoParts ? undefined : yearOfJson(date);
}

/**
 * @param id undefined when ids are not read, NaN when `idValue` is none
 * @param acceptsLongTexts whether a text may be too long in a row with an id
 */
function toBook(
  book: BookFields,
  hasYear: boolean,
  id: number | undefined,
  idValue: unknown,
  acceptsLongTexts: boolean,
): ReadBook | RowError {
  const long = acceptsLongTexts && id !== undefined ? undefined : findLongText(book);
  if (long) return { kind: 'text-too-long', field: long };
  const isEmpty = textLengthOf(book) === 0 && !hasYear;
  if (id === undefined) return isEmpty ? { kind: 'empty' } : { book };
  return id >= 1 ? { book: { id, ...book } } : { kind: 'id', value: displayText(idValue) };
}

/** A value for display: a text unchanged, another value as JSON, both truncated. */
export function displayText(value: unknown, lengthMax = 60): string {
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;
}
