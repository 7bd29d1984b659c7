import type { Needles } from '../../search/folding.ts';

/**
 * The trigrams of a text: every three characters that follow one another, as a number each. Different ones may share a
 * number, so what has all numbers of a part need not contain it. An index over arrays of numbers needs no extension of
 * PostgreSQL, and treats the letters of all languages alike.
 */
export function trigramsOf(text: string): number[] {
  const trigrams = new Set<number>();
  let [first, second] = [0, 0];
  let length = 0;
  for (const character of text) {
    const third = character.codePointAt(0) ?? 0;
    if (++length >= 3) trigrams.add(mix(first, second, third));
    [first, second] = [second, third];
  }
  return [...trigrams];
}

/** The longest words, in characters, whose trigrams the index has: those of 1 MiB would take seconds. */
const INDEXED_LENGTH_MAX = 8_192;

/** What the index has instead of the trigrams of longer ones, which every search has to compare. */
export const LONG_MARK = 0;

/** What the index of trigrams has of the words of a book. */
export function indexedTrigramsOf(words: string): number[] {
  return words.length > INDEXED_LENGTH_MAX ? [LONG_MARK] : trigramsOf(words);
}

/** More parts of texts, and more trigrams of one, are not looked up: the rest of them is compared. */
const PARTS_MAX = 16;
const TRIGRAMS_MAX = 64;

/** Trigrams that every match has, but for long ones. */
export function neededTrigramsOf(needles: Needles | undefined): number[] {
  const parts = [...(needles?.words ?? []), ...(needles?.prefilters ?? [])].slice(0, PARTS_MAX);
  return [...new Set(parts.flatMap((part) => trigramsOf(part).slice(0, TRIGRAMS_MAX)))];
}

/** One 32-bit number for three of 21 bits (multiply and shift, so that near ones end up far from each other). */
function mix(first: number, second: number, third: number): number {
  let bits = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b) ^ Math.imul(third, 0xc2b2ae35);
  bits = Math.imul(bits ^ (bits >>> 15), 0x27d4eb2f);
  return bits ^ (bits >>> 13);
}
