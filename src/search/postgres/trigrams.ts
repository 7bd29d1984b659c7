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

/** Trigrams that every match contains, of each word: every second one and the last one have all its letters. */
export function neededTrigramsOf(needles: Needles | undefined): number[][] {
  const parts = [...(needles?.words ?? []), ...(needles?.prefilters ?? [])];
  const words = parts.flatMap((part) => (startsAnywhere(part) ? GAP + part : part).split(/(?= {2})/));
  return words.map((word) =>
    hashesOf(word, () => false).filter((_, index, all) => index % 2 === 1 || index === all.length - 1),
  );
}

/** The most trigrams of a query that are looked up. */
const TRIGRAMS_MAX = 500;
/** Of a word, so many are looked up in any case. Of the commonest, further ones take several times as long and find as much. */
const RAREST = 2;

/** The trigrams of each word, the rarest two and those that are not common; all of them if no frequencies are known. @param frequencies those of the commonest trigrams */
export function selectiveTrigrams(
  trigramsOfWords: readonly number[][],
  frequencies: ReadonlyMap<number, number>,
): number[] {
  const frequencyOf = (trigram: number) => frequencies.get(trigram) ?? 0;
  const chosen = trigramsOfWords.flatMap((trigrams) =>
    trigrams
      .toSorted((one, other) => frequencyOf(one) - frequencyOf(other))
      .filter((trigram, index) => index < RAREST || !frequencies.has(trigram)),
  );
  return [...new Set(chosen)].slice(0, TRIGRAMS_MAX);
}

function mix(first: number, second: number, third: number): number {
  let bits = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b) ^ Math.imul(third, 0xc2b2ae35);
  bits = Math.imul(bits ^ (bits >>> 15), 0x27d4eb2f);
  return ((bits ^ (bits >>> 13)) << 16) >> 16;
}
