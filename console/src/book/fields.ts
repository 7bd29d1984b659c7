import type { Book, BookFields } from '../../../src/client/index.ts';
import { readInteger } from '../page/address.ts';

/** A book as somebody types it: the year is a text until it is one. */
export interface TypedFields {
  readonly title: string;
  readonly author: string;
  readonly year: string;
}

export const NO_FIELDS: TypedFields = { title: '', author: '', year: '' };

/** A book as it stands in the fields of a form, which write every end of a line as one character. */
export function typedFieldsOf({ title, author, year }: BookFields): TypedFields {
  return { title: withPlainLines(title), author: withPlainLines(author), year: String(year) };
}

/** The year of typed fields; 0 when nothing is typed, undefined when it is no year. */
export function yearOf({ year }: TypedFields): number | undefined {
  return year.trim() === '' ? 0 : readInteger(year);
}

/** What somebody has changed of a book; undefined when the year is no year. What was not touched is not sent. */
export function changesOf(typed: TypedFields, base: BookFields): Partial<BookFields> | undefined {
  const year = yearOf(typed);
  if (year === undefined) return undefined;
  return {
    ...(typed.title !== withPlainLines(base.title) && { title: typed.title }),
    ...(typed.author !== withPlainLines(base.author) && { author: typed.author }),
    ...(year !== base.year && { year }),
  };
}

/**
 * Merges what is typed with what others have made of the book since it was loaded.
 *
 * @returns `mine` and `theirs`: both have each field as whoever has changed it left it, and differ in the fields only that
 *   both have changed
 */
export function merge(
  typed: TypedFields,
  base: BookFields,
  current: BookFields,
): { mine: TypedFields; theirs: TypedFields; isConflict: boolean } {
  const [before, now] = [typedFieldsOf(base), typedFieldsOf(current)];
  const mine = { ...typed, year: String(yearOf(typed) ?? typed.year) };
  const theirs = { ...now };
  for (const field of FIELDS) {
    if (mine[field] === before[field]) mine[field] = now[field];
    else if (now[field] === before[field]) theirs[field] = mine[field];
  }
  return { mine, theirs, isConflict: FIELDS.some((field) => mine[field] !== theirs[field]) };
}

/** Whether nothing is typed that is not in the book. */
export function isUnchanged(typed: TypedFields, base: BookFields | undefined): boolean {
  const { title, author, year } = base ? typedFieldsOf(base) : NO_FIELDS;
  return typed.title === title && typed.author === author && typed.year === year;
}

/** Whether two books say the same. */
export function isSame(one: BookFields, other: BookFields): boolean {
  return one.title === other.title && one.author === other.author && one.year === other.year;
}

/** The fields of a book that people see and change, in their order. */
export const FIELDS = ['title', 'author', 'year'] as const satisfies (keyof Book)[];

function withPlainLines(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}
