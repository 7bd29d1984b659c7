import type { Needles } from '../../search/folding.ts';

/** The index has this, which no word contains, instead of the trigrams of long texts, which take seconds. */
export const LONG_MARK = '\u0001'.repeat(3);
/** The longest text, in characters, whose trigrams are indexed, within milliseconds. */
const INDEXED_LENGTH_MAX = 8_192;

export function indexedWordsOf(words: string): string {
  return words.length > INDEXED_LENGTH_MAX ? LONG_MARK : words;
}

/** Further parts, and the ends of longer ones, are compared instead of being looked up. */
const PARTS_MAX = 16;
const PART_LENGTH_MAX = 64;
const PART = new RegExp(`^.{3,${PART_LENGTH_MAX}}`, 'su');

/** An FTS5 query for books that may match (sqlite.org/fts5.html, sections 3 and 4.3.4). */
export function ftsQueryOf(needles: Needles | undefined): string | undefined {
  const parts = [...(needles?.words ?? []), ...(needles?.prefilters ?? [])]
    .map((part) => PART.exec(part)?.[0])
    .filter((part) => part !== undefined)
    .slice(0, PARTS_MAX);
  return parts.map((part) => `"${part.replaceAll('"', '""')}"`).join(' AND ') || undefined;
}

/** Whether all results of {@link ftsQueryOf} match. */
export function areExact({ words, prefilters }: Needles): boolean {
  return (
    prefilters.length === 0 &&
    words.length <= PARTS_MAX &&
    words.every(({ length }) => length <= PART_LENGTH_MAX)
  );
}
