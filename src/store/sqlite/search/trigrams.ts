import type { Needles } from '../../search/folding.ts';

/** What the index has instead of the trigrams of long texts, which take seconds: a character that is part of no word. */
export const LONG_MARK = '\u0001'.repeat(3);

/** The longest words, in characters, whose trigrams the index has: some milliseconds of work. */
const INDEXED_LENGTH_MAX = 8_192;

/** What the index of trigrams has of the words of a book. */
export function indexedWordsOf(words: string): string {
  return words.length > INDEXED_LENGTH_MAX ? LONG_MARK : words;
}

/** More parts of texts, and longer ones, are not looked up: the rest of them is compared. */
const PARTS_MAX = 16;
const PART_LENGTH_MAX = 64;
const PART = new RegExp(`^.{3,${PART_LENGTH_MAX}}`, 'su');

/** What the words must hold, in the language of FTS5 (sqlite.org/fts5.html, sections 3 and 4.3.4). */
export function trigramsOf(needles: Needles | undefined): string | undefined {
  const parts = [...(needles?.words ?? []), ...(needles?.prefilters ?? [])]
    .map((part) => PART.exec(part)?.[0])
    .filter((part) => part !== undefined)
    .slice(0, PARTS_MAX);
  return parts.length === 0
    ? undefined
    : parts.map((part) => `"${part.replaceAll('"', '""')}"`).join(' AND ');
}

/** Whether they hold all that is asked for. */
export function areExact({ words, prefilters }: Needles): boolean {
  return (
    prefilters.length === 0 &&
    words.length <= PARTS_MAX &&
    words.every(({ length }) => length <= PART_LENGTH_MAX)
  );
}
