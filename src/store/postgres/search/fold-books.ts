import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { Book } from '../../../book/book.ts';
import { lowerCase, wordsOf } from '../../search/folding.ts';
import { indexedTrigramsOf } from './trigrams.ts';

/** How many characters of text are folded at a time. */
const LENGTH_PER_TURN = 16_384;

/** The columns of the index for some books, folded on the main thread, where others have their turn in between. */
export async function foldedColumnsOf(books: readonly Book[]): Promise<unknown[]> {
  const words: string[] = [];
  const trigrams: string[] = [];
  let length = 0;
  for (const { title, author } of books) {
    if (length > LENGTH_PER_TURN) {
      await endOfTurn();
      length = 0;
    }
    length += title.length + author.length;
    words.push(wordsOf(title, author));
    trigrams.push(`{${indexedTrigramsOf(words.at(-1) ?? '').join(',')}}`);
  }
  return [
    books.map(({ id }) => id),
    books.map(({ title }) => title),
    books.map(({ author }) => author),
    books.map(({ year }) => year),
    books.map(({ title }) => lowerCase(title)),
    books.map(({ author }) => lowerCase(author)),
    words,
    trigrams,
  ];
}
