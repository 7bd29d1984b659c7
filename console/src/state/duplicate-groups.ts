import type { Book } from 'bookkeeping-client/index.ts';
import { keyOf } from 'bookkeeping-formats/equal-books.ts';
import { foldText } from '../../../src/book/folded-text.ts';

/**
 * Groups twins: title and author have the same words, and the years are at most one apart or unknown.
 *
 * @returns the groups in the order of titles, each with the lowest number first
 */
export function groupTwins(twins: readonly Book[]): readonly (readonly Book[])[] {
  const byWords = Map.groupBy(twins, ({ title, author }) =>
    JSON.stringify([wordsOf(title), wordsOf(author)]),
  );
  const groups = [...byWords.values()].flatMap(splitByYears).filter((group) => group.length > 1);
  const { compare } = new Intl.Collator();
  return groups
    .map((group) => group.toSorted((one, other) => one.id - other.id))
    .toSorted(([one], [other]) => compare(one?.title ?? '', other?.title ?? ''));
}

function splitByYears(books: readonly Book[]): readonly (readonly Book[])[] {
  if (books.some(({ year }) => year === 0)) return [books];
  const groups: Book[][] = [];
  let last = -Infinity;
  for (const book of books.toSorted((one, other) => one.year - other.year)) {
    if (book.year - last <= 1) groups.at(-1)?.push(book);
    else groups.push([book]);
    last = book.year;
  }
  return groups;
}

/** The words of a text or, if it has none, the text. */
function wordsOf(text: string): string {
  return foldText(text).trim() || text;
}

/** The books of a group that have the same fields as one before. */
export function exactCopiesIn(group: readonly Book[]): readonly Book[] {
  const known = new Set<string>();
  return group.filter((book) => {
    const key = keyOf(book);
    const isKnown = known.has(key);
    known.add(key);
    return isKnown;
  });
}
