import type { Book } from 'bookkeeping-client/index.ts';
import { foldText } from '../../../src/book/folded-text.ts';

/** The limit of books with the same title that are compared. */
const SAME_TITLE_MAX = 10_000;

/**
 * Finds books that are probably the same: title and author have the same words, and the years are at most one apart.
 *
 * @param pages all books in the order of `sort=title`, in which those with the same words in the title are neighbours
 * @returns groups of two or more books, the lowest number first
 */
export async function* findDuplicates(
  pages: AsyncIterable<readonly Book[]>,
): AsyncGenerator<readonly Book[], void> {
  let words: string | undefined;
  let books: Book[] = [];
  for await (const page of pages) {
    for (const book of page) {
      const found = wordsOf(book.title);
      if (found !== words) {
        yield* groupsOf(books);
        books = [];
        words = found;
      }
      if (books.length < SAME_TITLE_MAX) books.push(book);
    }
  }
  yield* groupsOf(books);
}

/** The groups among books with the same title. */
function* groupsOf(books: readonly Book[]): Generator<readonly Book[], void> {
  if (books.length < 2) return;
  for (const ofAuthor of Map.groupBy(books, ({ author }) => wordsOf(author)).values()) {
    const byYear = ofAuthor.toSorted((one, other) => one.year - other.year);
    let start = 0;
    for (const [index, { year }] of byYear.entries()) {
      const next = byYear[index + 1];
      if (next && next.year - year <= 1) continue;
      const group = byYear.slice(start, index + 1);
      if (group.length > 1) yield group.toSorted((one, other) => one.id - other.id);
      start = index + 1;
    }
  }
}

/** The words of a text or, if it has none, the text. */
function wordsOf(text: string): string {
  return foldText(text).trim() || text;
}
