import type { BookFields } from '../../../book/book.ts';

/**
 * The most books in a batch whose length only the store knows: each may have 2 MiB as text, and one statement returns
 * all of them.
 */
export const UNKNOWN_LENGTHS_MAX = 32;

/** The first of some updates, so that at most {@link UNKNOWN_LENGTHS_MAX} of them keep a stored text. */
export function limitUnknownLengths<Update extends { readonly changes: Partial<BookFields> }>(
  updates: readonly Update[],
): readonly Update[] {
  let unknown = 0;
  const end = updates.findIndex(
    ({ changes: { title, author } }) =>
      (title === undefined || author === undefined) && ++unknown > UNKNOWN_LENGTHS_MAX,
  );
  return end === -1 ? updates : updates.slice(0, end);
}
