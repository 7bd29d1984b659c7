import { GAP, startsAnywhere } from '../../book/folded-text.ts';
import type { Needles } from '../folding.ts';

/**
 * The hashes, of 16 bits, of the trigrams in the words of a book: the sequences of three characters, except those that end with a space,
 * which select little. A character that begins a word wherever it is has the trigrams that it would have after two spaces, too. As hashes
 * may collide, a text with all hashes of a part need not contain it. Unlike pg_trgm, this requires no extension, and works the same for
 * all languages.
 */
export function trigramHashesOf(words: string): number[] {
  return hashesOf(words, startsAnywhere);
}

function hashesOf(text: string, beginsWord: (character: string) => boolean): number[] {
  const trigrams = new Set<number>();
  let [first, second] = [0, 0];
  let length = 0;
  let isSecondBeginning = false;
  for (const character of text) {
    const third = character.codePointAt(0) ?? 0;
    const isBeginning = third > LAST_SPACED && beginsWord(character);
    if (third !== SPACE) {
      if (length >= 2) trigrams.add(mix(first, second, third));
      if (isSecondBeginning) trigrams.add(mix(SPACE, second, third));
      if (isBeginning) trigrams.add(mix(SPACE, SPACE, third));
    }
    length++;
    [first, second] = [second, third];
    isSecondBeginning = isBeginning;
  }
  return [...trigrams];
}

const SPACE = 0x20;
/** No character up to this one begins a word within others, so that most are told quickly. */
const LAST_SPACED = 0xdff;

/** Trigrams that every match contains, of each word. */
export function neededTrigramsOf(needles: Needles | undefined): number[][] {
  const parts = [...(needles?.words ?? []), ...(needles?.prefilters ?? [])];
  const words = parts.flatMap((part) => (startsAnywhere(part) ? GAP + part : part).split(/(?= {2})/));
  return words.map((word) => hashesOf(word, () => false));
}

/** The most trigrams of a query that are looked up. */
const TRIGRAMS_MAX = 500;
/** So few books are compared in less time than a further trigram takes to look up. */
const FEW_BOOKS = 1_000;

/** What a store has of trigrams. */
export interface TrigramStatistics {
  /** The shares of the books that have the commonest trigrams. */
  readonly frequencies: ReadonlyMap<number, number>;
  /** No other trigram has a greater share. */
  readonly othersMax: number;
  /** About the number of the books; infinite if it is unknown. */
  readonly books: number;
}

/**
 * The rarest trigrams of words, until about {@link FEW_BOOKS} books have them; all of them if no frequencies are known. Those of a word
 * occur together more often than by chance, so each but the first one is taken to select by the root of its frequency only.
 */
export function selectiveTrigrams(
  trigramsOfWords: readonly number[][],
  statistics: TrigramStatistics,
): number[] {
  const shares = trigramsOfWords.flatMap((trigrams) =>
    trigrams
      .map((trigram) => [trigram, frequencyOf(trigram, statistics)] as const)
      .toSorted(([, one], [, other]) => one - other)
      .map(([trigram, frequency], index) => [trigram, frequency ** (index === 0 ? 1 : 0.5)] as const),
  );
  const chosen = new Set<number>();
  let expected = statistics.books;
  for (const [trigram, share] of shares.toSorted(([, one], [, other]) => one - other)) {
    if (chosen.size > 0 && (expected <= FEW_BOOKS || chosen.size === TRIGRAMS_MAX)) break;
    chosen.add(trigram);
    expected *= share;
  }
  return [...chosen];
}

/** The greatest share of the books that a trigram can have. */
export function frequencyOf(trigram: number, { frequencies, othersMax }: TrigramStatistics): number {
  return frequencies.get(trigram) ?? othersMax;
}

function mix(first: number, second: number, third: number): number {
  let bits = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b) ^ Math.imul(third, 0xc2b2ae35);
  bits = Math.imul(bits ^ (bits >>> 15), 0x27d4eb2f);
  return ((bits ^ (bits >>> 13)) << 16) >> 16;
}
