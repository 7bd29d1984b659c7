/**
 * A text in lower case, by the default mapping of Unicode (section 3.13, `toLowercase`), but with a final sigma like any
 * other sigma: so a part of a text remains a part of its lower case.
 */
export function lowerCase(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}

/** Precedes a word, so that even a single letter results in a trigram. */
export const GAP = '  ';

/** A text in lower case, decomposed (NFKD), without marks and invisible characters, and with gaps between its words. */
export function foldText(text: string): string {
  // Most texts are ASCII, and the rules for Unicode take ten times as long.
  if (!BEYOND_ASCII.test(text)) return text.toLowerCase().replaceAll(ASCII_GAPS, GAP);
  const letters = lowerCase(text)
    .normalize('NFKD')
    .replaceAll(/[\p{M}\p{Cf}]/gu, '');
  return lowerCase(letters).replaceAll(/[\p{Z}\p{Cc}\p{P}]+/gu, GAP);
}

const BEYOND_ASCII = /\P{ASCII}/u;

/** ASCII characters that are neither letters nor digits nor symbols. */
const ASCII_GAPS = /[^A-Za-z0-9$+<=>^`|~]+/g;
