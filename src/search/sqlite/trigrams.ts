import { GAP, hasUnspaced, startsAnywhere } from '../../book/folded-text.ts';
import type { Needles } from '../folding.ts';

/** The ends of longer parts are compared instead of being looked up. */
const PART_LENGTH_MAX = 64;
const PART = new RegExp(`^.{1,${PART_LENGTH_MAX}}`, 'su');

/**
 * The words of a book for the table of words: those of scripts without spaces as pairs, each character that begins a word with the next
 * one. Example: `tokyo  東京都` is `tokyo  東京  京都  都`.
 */
export function indexedWordsOf(words: string): string {
  if (!hasUnspaced(words)) return words;
  return words
    .split(GAP)
    .map((word) => (hasUnspaced(word) ? pairsOf(word.trim()).join(GAP) : word))
    .join(GAP);
}

function pairsOf(word: string): string[] {
  const characters = Array.from(word);
  const pairs = characters.map((character, index) => character + (characters[index + 1] ?? ''));
  return pairs.filter((pair, index) => index === 0 || startsAnywhere(pair));
}

/** Whether many books have words with this beginning. */
export type IsCommon = (beginning: string) => boolean;

/**
 * An FTS5 query for books that may have words with these beginnings (sqlite.org/fts5.html, section 3.3). The table has lists of the
 * books for beginnings of up to three characters; of longer ones FTS5 would make a list of all books before it returns the first, so
 * common ones are shortened.
 */
export function wordsQueryOf(
  needles: Needles | undefined,
  isCommon: IsCommon = () => false,
): string | undefined {
  const parts = (needles?.prefilters ?? []).flatMap((part) =>
    wordsIn([part]).filter((word, index) => index > 0 || startsAnywhere(word)),
  );
  const beginnings = [...wordsIn(needles?.words), ...parts].filter(isIndexedWord);
  const indexed = beginnings.map((beginning) => {
    const listed = listedBeginningOf(beginning);
    return listed !== undefined && isCommon(beginning) ? listed : (PART.exec(beginning)?.[0] ?? '');
  });
  return indexed.map((beginning) => `"${beginning}"*`).join(' AND ') || undefined;
}

/** The first characters of a beginning, if it is longer than those of which the table of words has lists. */
export function listedBeginningOf(beginning: string): string | undefined {
  return LONGER_THAN_LISTED.exec(beginning)?.[1];
}

const LONGER_THAN_LISTED = /^(.{3})./su;

/** Whether all results of {@link wordsQueryOf} match. */
export function areExact({ words, prefilters }: Needles): boolean {
  const areWhole = words.every((word) => {
    const beginning = word.trim();
    return beginning.length <= PART_LENGTH_MAX && !beginning.includes(GAP) && isIndexedWord(beginning);
  });
  return prefilters.length === 0 && areWhole;
}

function wordsIn(parts: readonly string[] = []): string[] {
  return parts.flatMap((part) => part.split(GAP).filter(Boolean));
}

/** Whether a beginning is in the table of words: the others, which are longer than a pair, are in the table of trigrams. */
function isIndexedWord(beginning: string): boolean {
  return !hasUnspaced(beginning) || !HAS_TRIGRAM.test(beginning);
}

const HAS_TRIGRAM = /.{3}/su;

/**
 * An FTS5 query for books that may have these parts in their texts (section 4.3.5). Every third trigram of a word and its last one have
 * all characters: they select nearly as few books as all, in less than half of the time. Trigrams with a gap, which many books have, are
 * only for parts without a word that has a trigram.
 */
export function trigramsQueryOf(needles: Needles | undefined): string | undefined {
  const longer = wordsIn(needles?.words).filter((word) => !isIndexedWord(word));
  const parts = [...longer, ...(needles?.prefilters ?? [])].map((part) => PART.exec(part)?.[0] ?? '');
  const trigrams = new Set(
    parts.flatMap((part) => {
      const ofWords = wordsIn([part]).flatMap(trigramsOf);
      return ofWords.length > 0 ? ofWords : trigramsOf(part);
    }),
  );
  return [...trigrams].map((trigram) => `"${trigram}"`).join(' AND ') || undefined;
}

function trigramsOf(part: string): string[] {
  const characters = Array.from(part);
  const all = characters.slice(2).map((_, index) => characters.slice(index, index + 3).join(''));
  return all.filter((_, index) => index % 3 === 0 || index === all.length - 1);
}
