import type { Needles } from '../folding.ts';

/** The ends of longer parts are compared instead of being looked up. */
const PART_LENGTH_MAX = 64;
const PART = new RegExp(`^.{1,${PART_LENGTH_MAX}}`, 'su');

/** An FTS5 query for books that may have words with these beginnings (sqlite.org/fts5.html, section 3.3). */
export function wordsQueryOf(needles: Needles | undefined): string | undefined {
  const beginnings = (needles?.words ?? []).map((word) => PART.exec(word.trim())?.[0]);
  return beginnings.map((beginning) => `"${beginning}"*`).join(' AND ') || undefined;
}

/** Whether all results of {@link wordsQueryOf} match. */
export function areExact({ words, prefilters }: Needles): boolean {
  return prefilters.length === 0 && words.every(({ length }) => length <= PART_LENGTH_MAX);
}

/**
 * An FTS5 query for books that may have these parts in their texts (section 4.3.5). Every third trigram of a part and its last one have
 * all characters: they select nearly as few books as all, in less than half of the time.
 */
export function trigramsQueryOf(needles: Needles | undefined): string | undefined {
  const parts = (needles?.prefilters ?? []).map((part) => PART.exec(part)?.[0] ?? '');
  const trigrams = new Set(parts.flatMap(trigramsOf));
  return [...trigrams].map((trigram) => `"${trigram}"`).join(' AND ') || undefined;
}

function trigramsOf(part: string): string[] {
  const characters = Array.from(part);
  const all = characters.slice(2).map((_, index) => characters.slice(index, index + 3).join(''));
  return all.filter((_, index) => index % 3 === 0 || index === all.length - 1);
}
