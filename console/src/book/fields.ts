import type { BookFields } from '../../../src/client/index.ts';
import { FIELDS, type Field } from '../../../src/formats/row.ts';
import { readInteger } from '../page/address.ts';

/** The texts of the form of a book. */
export type FormFields = Readonly<Record<Field, string>>;

/** The fields of a book; empty ones for a new book. */
export function formFieldsOf(book: BookFields | undefined): FormFields {
  if (!book) return { title: '', author: '', year: '' };
  const { title, author, year } = book;
  return { title: normalizeLines(title), author: normalizeLines(author), year: String(year) };
}

/** The typed year; 0 when it is empty, undefined when it is invalid. */
export function yearOf({ year }: FormFields): number | undefined {
  return year.trim() === '' ? 0 : readInteger(year);
}

/** The fields that differ from the base; an invalid year is ignored. */
export function changesOf(draft: FormFields, base: BookFields): Partial<BookFields> {
  const year = yearOf(draft);
  return {
    ...(draft.title !== normalizeLines(base.title) && { title: draft.title }),
    ...(draft.author !== normalizeLines(base.author) && { author: draft.author }),
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
  const mine = { ...draft, year: String(yearOf(draft) ?? draft.year) };
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
