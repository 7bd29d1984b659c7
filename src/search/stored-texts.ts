// What an index stores of the texts of a book beside its sort keys, which have most of them: the rest is null if SQL computes it.

import { GAP, isAscii } from '../book/folded-text.ts';
import { BETWEEN_TEXTS, type FoldedBook } from './folding.ts';
import type { Dialect } from './snapshot.ts';

/** The end of the words of a sort key. */
const END = '\u0001';

interface StoredTexts {
  /** The folded title and author. */
  readonly titleLower: string | null;
  readonly authorLower: string | null;
  /** The words of both. */
  readonly words: string | null;
}

/** @param book the texts that were folded */
export function storedTextsOf(
  book: { readonly title: string; readonly author: string },
  { titleKey, authorKey, titleLower, authorLower, words }: FoldedBook,
): StoredTexts {
  return {
    titleLower: isInKey(book.title, titleKey, titleLower) ? null : titleLower,
    authorLower: isInKey(book.author, authorKey, authorLower) ? null : authorLower,
    words:
      titleKey.includes(END) && authorKey.includes(END)
        ? null
        : words.replaceAll(BETWEEN_TEXTS, ` ${END} `).replaceAll(GAP, ' '),
  };
}

/** Whether the key has all of a text, of which engines fold only ASCII. */
function isInKey(text: string, key: string, lower: string): boolean {
  if (!key.endsWith(END + text)) return false;
  return isAscii(text) || text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()) === lower;
}

/** The folded text of a column, as SQL. */
export function storedLower(column: 'title' | 'author', { placeFunction, wordsEnd }: Dialect): string {
  const key = `${column}_key`;
  return `coalesce(${column}_lower, lower(substr(${key}, ${placeFunction}(${key}, ${wordsEnd}) + 1)))`;
}

/** The words of title and author, as SQL, a space before each. {@link END} is between those of both, so that no match spans two texts. */
export function storedWords({ placeFunction, wordsEnd }: Dialect): string {
  const wordsIn = (key: string) => `substr(${key}, 1, ${placeFunction}(${key}, ${wordsEnd}))`;
  return `coalesce(words, ' ' || ${wordsIn('title_key')} || ' ' || ${wordsIn('author_key')})`;
}
