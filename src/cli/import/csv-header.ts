import { EMPTY_BOOK } from '../../book.ts';
import { readJsonObject } from '../../json.ts';
import { CommandFailed } from '../exit.ts';
import type { Columns, Field } from './columns.ts';
import { faultOf, isId, NO_ID, type Row } from './row.ts';

/** The first record of a CSV file, which says where the others have what. */
export class CsvHeader {
  readonly #length: number;
  readonly #columns: Columns;
  readonly #id: number;
  readonly #title: number;
  readonly #author: number;
  readonly #year: number;

  /**
   * @param record the names; a name counts in any case where none is written exactly so
   * @throws CommandFailed when it lacks a column that was asked for, or has none at all
   */
  constructor(record: readonly string[], columns: Columns) {
    const names = record.map((name) => name.trim());
    const placeOf = (field: Field) => {
      const column = columns.get(field);
      if (column === undefined) return -1;
      const place = names.lastIndexOf(column);
      if (place >= 0) return place;
      const inAnyCase = names.findLastIndex((name) => name.toLowerCase() === column.toLowerCase());
      const isDemanded = column !== field || field === 'id';
      if (inAnyCase < 0 && isDemanded) throw new CommandFailed(`the first line names no column ${column}`);
      return inAnyCase;
    };
    this.#length = names.length;
    this.#columns = columns;
    this.#id = placeOf('id');
    this.#title = placeOf('title');
    this.#author = placeOf('author');
    this.#year = placeOf('year');
    if (Math.max(this.#title, this.#author, this.#year) < 0) {
      throw new CommandFailed('the first line names none of the columns title, author and year; see --map');
    }
  }

  /**
   * Reads another record by the rules that the service has for a book. An empty year is an absent one.
   *
   * @param isUtf8 whether all of the file was UTF-8 so far
   */
  read(record: readonly string[], line: number, isUtf8: boolean): Row {
    if (record.length !== this.#length) {
      return { line, fault: `it has ${record.length} values, and the first line ${this.#length}` };
    }
    const id = this.#id < 0 ? NO_ID : readWholeNumber(record[this.#id] ?? '');
    const title = record[this.#title] ?? EMPTY_BOOK.title;
    const author = record[this.#author] ?? EMPTY_BOOK.author;
    const year = readWholeNumber(record[this.#year] || `${EMPTY_BOOK.year}`);
    if (this.#id >= 0 && !isId(id)) return { line, fault: this.#faultOf('id') };
    if (!isText(title)) return { line, fault: this.#faultOf('title') };
    if (!isText(author)) return { line, fault: this.#faultOf('author') };
    if (year === undefined) return { line, fault: this.#faultOf('year') };
    if (!isUtf8 && (title.includes(REPLACEMENT) || author.includes(REPLACEMENT))) {
      return { line, fault: 'it is not UTF-8' };
    }
    return { line, book: { id: id ?? NO_ID, title, author, year } };
  }

  #faultOf(field: Field): string {
    return faultOf(field, this.#columns.get(field) ?? field);
  }
}

/** What decoders put in place of bytes that are not UTF-8. */
const REPLACEMENT = '\uFFFD';

function isText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** A whole number as JSON writes it, such as `1999` or `1999.0`. */
function readWholeNumber(text: string): number | undefined {
  if (SHORT_NUMBER.test(text)) return Number(text);
  const literal = text.trim();
  if (!NUMBER.test(literal)) return undefined;
  return readJsonObject(Buffer.from(`{"number":${literal}}`), { number: 'integer' })?.number;
}

const SHORT_NUMBER = /^(0|-?[1-9][0-9]{0,14})$/;

/** RFC 8259, section 6. */
const NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;
