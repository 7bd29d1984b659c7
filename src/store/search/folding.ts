import type { BookQuery } from '../../book/book-store-interface.ts';

/**
 * How texts are compared in a search. Engines fold letters in ways of their own, and not all of them beyond ASCII, so it
 * is done here, once for all of them.
 */

/** Raised with every change of what {@link lowerCase} or {@link wordsOf} returns: indexes store it. */
export const FOLDING_VERSION = 1;

/**
 * A text in lower case, by the default mapping of Unicode (section 3.13, `toLowercase`). A Σ at the end of a word is
 * no other letter than one within it, so every character is mapped by itself: what is part of a text stays part of it.
 */
export function lowerCase(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}

/**
 * The words of texts: lower case, compatibility forms decomposed (NFKD), without marks and what is invisible. Words
 * are what stands between spaces, punctuation and control characters. Two spaces are in front of each, and at the end.
 */
export function wordsOf(...texts: readonly string[]): string {
  return `${GAP}${fold(texts.join('\n'))}${GAP}`.replaceAll(/ {3,}/g, GAP);
}

/** In front of a word, so that even one of a single letter makes three characters, a trigram. */
const GAP = '  ';

function fold(text: string): string {
  // Most texts are plain, and the rules for all of Unicode take ten times as long.
  if (!BEYOND_ASCII.test(text)) return text.toLowerCase().replaceAll(ASCII_GAPS, GAP);
  const letters = lowerCase(text)
    .normalize('NFKD')
    .replaceAll(/[\p{M}\p{Cf}]/gu, '');
  return lowerCase(letters).replaceAll(/[\p{Z}\p{Cc}\p{P}]+/gu, GAP);
}

const BEYOND_ASCII = /\P{ASCII}/u;

/** What is neither a letter nor a digit nor a symbol within ASCII. */
const ASCII_GAPS = /[^A-Za-z0-9$+<=>^`|~]+/g;

/** What every text that a query asks for must contain. */
export interface Needles {
  /** Parts of the title and of the author, as {@link lowerCase} makes them. */
  readonly title: string | undefined;
  readonly author: string | undefined;
  /** Parts of the words of title and author together, as {@link wordsOf} makes them: the beginnings of words. */
  readonly words: readonly string[];
  /** Parts that the words contain wherever title and author contain theirs; not the other way round. */
  readonly prefilters: readonly string[];
}

/** What is asked for of texts, in the forms that they are compared in; undefined when nothing is. */
export function needlesOf({ title, author, q }: BookQuery): Needles | undefined {
  const words = q === undefined ? [] : beginningsOf(q);
  const parts = [title, author].filter((part) => part !== undefined && part !== '') as string[];
  if (words.length + parts.length === 0) return undefined;
  return {
    title: title && lowerCase(title),
    author: author && lowerCase(author),
    words,
    prefilters: parts.map(fold),
  };
}

function beginningsOf(q: string): string[] {
  const words = new Set(wordsOf(q).split(GAP));
  return [...words].filter((word) => word !== '').map((word) => GAP + word);
}

/** Whether the texts of a book match. It takes time in proportion to their length, whatever the query is. */
export function isMatch(needles: Needles | undefined, title: string, author: string): boolean {
  if (!needles) return true;
  return isFoldedMatch(
    needles,
    needles.title ? lowerCase(title) : '',
    needles.author ? lowerCase(author) : '',
    needles.words.length > 0 ? wordsOf(title, author) : '',
  );
}

/** The same for texts in the forms that they are compared in; those that the query does not compare may be empty. */
export function isFoldedMatch(needles: Needles, title: string, author: string, words: string): boolean {
  if (needles.title && !contains(title, needles.title)) return false;
  if (needles.author && !contains(author, needles.author)) return false;
  if (needles.words.length > WORDS_COMPARED_MAX) return hasBeginnings(words, needles.words);
  return needles.words.every((word) => contains(words, word));
}

/** More words than this are looked up together, or a query of thousands would go through a long text as often. */
const WORDS_COMPARED_MAX = 16;

/** As many comparisons as `includes` may make; its worst case is the product of the two lengths. */
const COMPARISONS_MAX = 1_000_000;

function contains(text: string, part: string): boolean {
  if (text.length * part.length <= COMPARISONS_MAX) return text.includes(part);
  return part.length <= text.length && containsInLinearTime(text, part);
}

/** The algorithm of Knuth, Morris and Pratt: `borders` has the length of the border of each beginning of `part`. */
function containsInLinearTime(text: string, part: string): boolean {
  const borders = new Uint32Array(part.length);
  let matched = 0;
  for (let index = 1; index < part.length; index++) {
    while (matched > 0 && part[index] !== part[matched]) matched = borders[matched - 1] ?? 0;
    if (part[index] === part[matched]) matched++;
    borders[index] = matched;
  }
  matched = 0;
  for (let index = 0; index < text.length; index++) {
    while (matched > 0 && text[index] !== part[matched]) matched = borders[matched - 1] ?? 0;
    if (text[index] === part[matched]) matched++;
    if (matched === part.length) return true;
  }
  return false;
}

/** Whether each of some beginnings, as {@link Needles} has them, begins one of the words. */
function hasBeginnings(words: string, beginnings: readonly string[]): boolean {
  const missing = new Set(beginnings.map((beginning) => beginning.slice(GAP.length)));
  const lengths = new Set([...missing].map(({ length }) => length));
  for (const word of words.split(GAP)) {
    for (const length of lengths) if (length <= word.length) missing.delete(word.slice(0, length));
    if (missing.size === 0) return true;
  }
  return false;
}
