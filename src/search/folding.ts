// Case folding and comparison of texts, the same for all engines: their own rules differ, some beyond ASCII.

import { hash } from 'node:crypto';
import type { BookFields } from '../book/contract.ts';
import {
  foldText,
  GAP,
  isAscii,
  lowerCase,
  separateScripts,
  startsAnywhere,
  typedWords,
} from '../book/folded-text.ts';
import { type SearchQuery, SORT_KEY_LENGTH } from './book-search.ts';

/** Incremented with every change of the results of {@link foldBook}, which indexes store. */
export const FOLDING_VERSION = 6;

/** The code points of a title and of an author that a search compares. Engines read no more of them, and fold only these. */
export const COMPARED_LENGTH = 8_192;

/** What is between the words of two texts, so that no match spans them: one more space than between words. */
export const BETWEEN_TEXTS = `${GAP} `;

/** The words of texts. Two spaces precede each word and end the result; {@link BETWEEN_TEXTS} is between texts. */
export function wordsOf(...texts: readonly string[]): string {
  return joinWords(texts.map(foldWords));
}

function joinWords(folded: readonly string[]): string {
  const words = folded.filter((text) => text !== '').map((text) => text + GAP);
  return GAP + words.join(' ');
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
  readonly twinKey: number;
}

type FoldedFields = Pick<BookFields, 'title' | 'author'>;

/** The forms of the texts of a book that the index has, by which books are compared and sorted. */
export function foldBook({ title, author }: FoldedFields): FoldedBook {
  const [foldedTitle, foldedAuthor] = [foldWords(title), foldWords(author)];
  return {
    titleKey: joinSortKey(foldedTitle, title),
    authorKey: joinSortKey(foldedAuthor, author),
    titleLower: comparedForm(title),
    authorLower: comparedForm(author),
    words: joinWords([foldedTitle, foldedAuthor]),
    twinKey: hashOf(foldedTitle || title, foldedAuthor || author),
  };
}

/** Equal for books with the same words in title and author; a text without words is compared as it is. */
export function twinKeyOf({ title, author }: FoldedFields): number {
  return hashOf(foldWords(title) || title, foldWords(author) || author);
}

/** Of 53 bits: among ten million books, two others have the same in one of 180 stores. */
function hashOf(...texts: readonly string[]): number {
  const bytes = hash('sha1', texts.join('\0'), 'buffer');
  return bytes.readUInt32BE() * 2 ** 21 + (bytes.readUInt32BE(4) >>> 11);
}

/** A title or an author as the filters of this name compare it. */
function comparedForm(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  // Only in lower case has ΐ a composed form.
  return lowerCase(text.normalize('NFC')).normalize('NFC');
}

/** The texts that a matching book contains. */
export interface Needles {
  /** Parts of the title and of the author, as {@link comparedForm} returns them. */
  readonly title: string | undefined;
  readonly author: string | undefined;
  /** Beginnings of words of title or author, as {@link wordsOf} returns them; with a gap if it shows where a word begins. */
  readonly words: readonly string[];
  /** Parts of the words of every book that contains `title` and `author`; other books may have them too. */
  readonly prefilters: readonly string[];
}

/** @returns undefined when the query has no condition on texts */
export function needlesOf({ title, author, q }: SearchQuery): Needles | undefined {
  const words = [...new Set(typedWords(q ?? ''))].map(beginningOf);
  const parts = [title, author].filter((part) => part !== undefined && part !== '') as string[];
  if (words.length + parts.length === 0) return undefined;
  return {
    title: title && comparedForm(title),
    author: author && comparedForm(author),
    words,
    prefilters: parts.map(innerPartOf),
  };
}

/** What {@link wordsOf} has where a word begins with this one. */
function beginningOf(word: string): string {
  return (startsAnywhere(word) ? '' : GAP) + separateScripts(word);
}

/** What the words of a text have, whatever is beside this part in it: the marks at its ends may move, and ｶ becomes ガ before ﾞ. */
function innerPartOf(part: string): string {
  return (FIRST_TO_LAST_LETTER.exec(foldText(part))?.[0] ?? '').replace(LAST_KANA, '');
}

const FIRST_TO_LAST_LETTER = /[^\p{M} ](?:.*[^\p{M} ])?/su;
const LAST_KANA = /[\p{sc=Hiragana}\p{sc=Katakana}]$/u;

/** Whether a query has a `q` without a word, which no book matches. */
export function searchesNoWord({ q }: SearchQuery): boolean {
  return q !== undefined && typedWords(q).length === 0;
}

/** Whether a book matches. @param title and author no longer than {@link COMPARED_LENGTH} */
export function isMatch(needles: Needles | undefined, title: string, author: string): boolean {
  if (!needles) return true;
  if (needles.title && !comparedForm(title).includes(needles.title)) return false;
  if (needles.author && !comparedForm(author).includes(needles.author)) return false;
  const words = needles.words.length > 0 ? wordsOf(title, author) : '';
  return needles.words.every((word) => words.includes(word));
}
