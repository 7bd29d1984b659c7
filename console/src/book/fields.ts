import type { Book, BookFields } from '../../../src/client/index.ts';
import { readInteger } from '../page/address.ts';

/** The fields of a book that users see and edit, in their order. */
export const FIELDS = ['title', 'author', 'year'] as const satisfies (keyof Book)[];

/** A book as it is typed: the year is a text. */
export type TypedFields = Readonly<Record<(typeof FIELDS)[number], string>>;

export const NO_FIELDS: TypedFields = { title: '', author: '', year: '' };

export function typedFieldsOf({ title, author, year }: BookFields): TypedFields {
  return { title: normalizeLines(title), author: normalizeLines(author), year: String(year) };
}

/** The typed year; 0 when it is empty, undefined when it is invalid. */
export function yearOf({ year }: TypedFields): number | undefined {
  return year.trim() === '' ? 0 : readInteger(year);
}

/** The fields that differ from the base, which are all that is sent; undefined when the year is invalid. */
export function changesOf(typed: TypedFields, base: BookFields): Partial<BookFields> | undefined {
  const year = yearOf(typed);
  if (year === undefined) return undefined;
  return {
    ...(typed.title !== normalizeLines(base.title) && { title: typed.title }),
    ...(typed.author !== normalizeLines(base.author) && { author: typed.author }),
    ...(year !== base.year && { year }),
  };
}

/**
 * Merges what is typed with what other users have changed since the book was loaded.
 *
 * @returns `mine` and `theirs`, which differ only in the fields that both have changed
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

export function isUnchanged(typed: TypedFields, base: BookFields | undefined): boolean {
  const before = base ? typedFieldsOf(base) : NO_FIELDS;
  return FIELDS.every((field) => typed[field] === before[field]);
}

export function isSame(one: BookFields, other: BookFields): boolean {
  return FIELDS.every((field) => one[field] === other[field]);
}

/** Text areas turn every line ending into LF. */
function normalizeLines(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}
