import type { BookFields } from 'bookkeeping-client/index.ts';
import { FIELDS, type Field } from 'bookkeeping-formats/row.ts';

/** The texts of the form of a book. */
export type FormFields = Readonly<Record<Field, string>>;

/** The fields of a book; empty ones for a new book, and for the year 0, which stands for an unknown one. */
export function formFieldsOf(book: BookFields | undefined): FormFields {
  if (!book) return { title: '', author: '', year: '' };
  const { title, author, year } = book;
  return { title: normalizeLines(title), author: normalizeLines(author), year: textOfYear(year) };
}

/** A year as it is edited; 0 stands for an unknown one. */
export function textOfYear(year: number): string {
  return year === 0 ? '' : String(year);
}

/** How the languages of the console write that a year is before the common era. */
const BEFORE_COMMON_ERA =
  /\s*(?:b\.?\s*c\.?(?:\s*e\.?)?|v\.?\s*chr\.?|a\.?\s*c\.?|av\.?\s*j\.?\s*-?\s*c\.?)$/i;

/** Reads a year that the API accepts, as it is stored (-44) or shown (44 BC). */
export function readYear(text: string): number | undefined {
  const trimmed = text.trim();
  const year = trimmed.replace(BEFORE_COMMON_ERA, '');
  if (!/^[-−]?[0-9]{1,16}$/.test(year)) return undefined;
  const number = Number(year.replace('−', '-'));
  if (!Number.isSafeInteger(number)) return undefined;
  // Adding 0 makes -0 0.
  return (year === trimmed ? number : -Math.abs(number)) + 0;
}

/** The typed year; 0 when it is empty, undefined when it is invalid. */
export function yearOf({ year }: FormFields): number | undefined {
  return year.trim() === '' ? 0 : readYear(year);
}

/** Whether a book has neither a title nor an author: the console stores none, and does not make one so. */
export function isNameless({ title, author }: Pick<BookFields, 'title' | 'author'>): boolean {
  return `${title}${author}`.trim() === '';
}

/** The fields that differ from the base; an invalid year is ignored. */
export function editedFields(draft: FormFields, base: BookFields): Partial<BookFields> {
  const [before, year] = [formFieldsOf(base), yearOf(draft)];
  const texts = FIELDS.filter((field) => field !== 'year' && draft[field] !== before[field]);
  return {
    ...Object.fromEntries(texts.map((field) => [field, draft[field]])),
    ...(year !== undefined && year !== base.year && { year }),
  };
}

/** The fields of a book that differ from those of another version. */
export function differingFields(book: BookFields, other: BookFields): Partial<BookFields> {
  return Object.fromEntries(
    FIELDS.filter((field) => book[field] !== other[field]).map((field) => [field, book[field]]),
  );
}

/**
 * Merges the draft with the changes of other users since the book was loaded.
 *
 * @returns `mine` and `theirs`, which differ only in the fields that both have changed
 */
export function merge(
  draft: FormFields,
  base: BookFields,
  current: BookFields,
): { mine: FormFields; theirs: FormFields; isConflict: boolean } {
  const [before, now] = [formFieldsOf(base), formFieldsOf(current)];
  const year = yearOf(draft);
  const mine = { ...draft, year: year === undefined ? draft.year : textOfYear(year) };
  const theirs = { ...now };
  for (const field of FIELDS) {
    if (mine[field] === before[field]) mine[field] = now[field];
    else if (now[field] === before[field]) theirs[field] = mine[field];
  }
  return { mine, theirs, isConflict: !isSame<FormFields>(mine, theirs) };
}

export function isSame<Fields extends BookFields | FormFields>(one: Fields, other: Fields): boolean {
  return FIELDS.every((field) => one[field] === other[field]);
}

/** Text areas convert line endings to LF. */
function normalizeLines(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}
