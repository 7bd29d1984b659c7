// Case folding and comparison of texts, the same for all engines: their own rules differ, some beyond ASCII.

import type { BookFields } from '../../book/book.ts';
import { type BookQuery, SORT_KEY_LENGTH } from '../../book/book-store-interface.ts';
import { foldText, GAP, lowerCase } from '../../book/folded-text.ts';

/** Incremented with every change of the results of {@link foldBook}, which indexes store. */
export const FOLDING_VERSION = 2;

/**
 * The words of texts, separated by spaces, punctuation and control characters: in lower case, decomposed (NFKD), without
 * marks and invisible characters. Two spaces precede each word and end the result.
 */
export function wordsOf(...texts: readonly string[]): string {
  return joinWords(texts.map(foldWords));
}

function joinWords(folded: readonly string[]): string {
  let words = GAP;
  for (const text of folded) if (text !== '') words += text + GAP;
  return words;
}

function foldWords(text: string): string {
  return foldText(text).trim();
}

/** By this, texts are sorted: by their words, then by their code points; see {@link compareSortKeys}. */
export function sortKeyOf(text: string): string {
  return joinSortKey(foldWords(text), text);
}

/** U+0001 precedes all characters of words, so that a text precedes those that begin with its words. */
function joinSortKey(folded: string, text: string): string {
  // A code point has at most two UTF-16 code units, and a space is two.
  const words = folded.slice(0, 4 * SORT_KEY_LENGTH).replaceAll(GAP, ' ');
  const key = `${words}\u0001${text.slice(0, 2 * SORT_KEY_LENGTH)}`;
  return key.length <= SORT_KEY_LENGTH ? key : (SORT_KEY.exec(key)?.[0] ?? '');
}

const SORT_KEY = new RegExp(`^.{0,${SORT_KEY_LENGTH}}`, 'su');

/** Compares code points, as the engines do; the operators of JavaScript compare UTF-16 code units. */
export function compareSortKeys(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** The texts of a book as an index stores them. */
export interface FoldedBook {
  readonly titleKey: string;
  readonly authorKey: string;
  readonly titleLower: string;
  readonly authorLower: string;
  readonly words: string;
}

export function foldBook({ title, author }: BookFields): FoldedBook {
  const [foldedTitle, foldedAuthor] = [foldWords(title), foldWords(author)];
  return {
    titleKey: joinSortKey(foldedTitle, title),
    authorKey: joinSortKey(foldedAuthor, author),
    titleLower: lowerCase(title),
    authorLower: lowerCase(author),
    words: joinWords([foldedTitle, foldedAuthor]),
  };
}

/** The texts that a matching book contains. */
export interface Needles {
  /** Parts of the title and of the author, as {@link lowerCase} returns them. */
  readonly title: string | undefined;
  readonly author: string | undefined;
  /** Beginnings of words of title or author, as {@link wordsOf} returns them. */
  readonly words: readonly string[];
  /** Parts of the words of every book that contains `title` and `author`; other books may have them too. */
  readonly prefilters: readonly string[];
}

/** @returns undefined when the query has no condition on texts */
export function needlesOf({ title, author, q }: BookQuery): Needles | undefined {
  const words = q === undefined ? [] : beginningsOf(q);
  const parts = [title, author].filter((part) => part !== undefined && part !== '') as string[];
  if (words.length + parts.length === 0) return undefined;
  return {
    title: title && lowerCase(title),
    author: author && lowerCase(author),
    words,
    prefilters: parts.map(foldText),
  };
}

function beginningsOf(q: string): string[] {
  const words = new Set(wordsOf(q).split(GAP));
  return [...words].filter((word) => word !== '').map((word) => GAP + word);
}

/** Whether the texts of a book match, in time proportional to their length for any query. */
export function isMatch(needles: Needles | undefined, title: string, author: string): boolean {
  if (!needles) return true;
  return isFoldedMatch(
    needles,
    needles.title ? lowerCase(title) : '',
    needles.author ? lowerCase(author) : '',
    needles.words.length > 0 ? wordsOf(title, author) : '',
  );
}

/** {@link isMatch} for folded texts; those that the query does not compare may be empty. */
export function isFoldedMatch(needles: Needles, title: string, author: string, words: string): boolean {
  if (needles.title && !contains(title, needles.title)) return false;
  if (needles.author && !contains(author, needles.author)) return false;
  if (needles.words.length > WORDS_COMPARED_MAX) return hasBeginnings(words, needles.words);
  return needles.words.every((word) => contains(words, word));
}

/** More words than this are looked up together, so that a query of thousands does not scan a text thousands of times. */
const WORDS_COMPARED_MAX = 16;
/** The most comparisons for `includes`, whose worst case is the product of the two lengths. */
const COMPARISONS_MAX = 1_000_000;

function contains(text: string, part: string): boolean {
  if (text.length * part.length <= COMPARISONS_MAX) return text.includes(part);
  return part.length <= text.length && containsInLinearTime(text, part);
}

/** The algorithm of Knuth, Morris and Pratt; `borders` has the length of the border of each prefix of `part`. */
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

/** Whether each of the beginnings, as in {@link Needles}, begins one of the words. */
function hasBeginnings(words: string, beginnings: readonly string[]): boolean {
  const missing = new Set(beginnings.map((beginning) => beginning.slice(GAP.length)));
  const lengths = new Set([...missing].map(({ length }) => length));
  for (const word of words.split(GAP)) {
    for (const length of lengths) if (length <= word.length) missing.delete(word.slice(0, length));
    if (missing.size === 0) return true;
  }
  return false;
}
