// Case folding and comparison of texts, the same for all engines: their own rules differ, some beyond ASCII.

import type { BookFields } from '../book/book.ts';
import { foldText, GAP, lowerCase } from '../book/folded-text.ts';
import { type BookQuery, SORT_KEY_LENGTH } from './book-search.ts';

/** Incremented with every change of the results of {@link foldBook}, which indexes store. */
export const FOLDING_VERSION = 3;

/** The code points of a title and of an author that a search compares. Engines read no more of them, and fold only these. */
export const COMPARED_LENGTH = 8_192;

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
interface FoldedBook {
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

/** Whether a book matches. @param title and author no longer than {@link COMPARED_LENGTH} */
export function isMatch(needles: Needles | undefined, title: string, author: string): boolean {
  if (!needles) return true;
  if (needles.title && !lowerCase(title).includes(needles.title)) return false;
  if (needles.author && !lowerCase(author).includes(needles.author)) return false;
  const words = needles.words.length > 0 ? wordsOf(title, author) : '';
  return needles.words.every((word) => words.includes(word));
}
