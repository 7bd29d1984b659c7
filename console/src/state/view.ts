import type { ReadonlySignal } from '@preact/signals';
import type { BookQuery } from 'bookkeeping-client/index.ts';
import { typedWords } from '../../../src/book/folded-text.ts';
import { readYear } from './fields.ts';
import { SORTS, type Sort } from './sort.ts';

/** The state of the page that is kept in its URL, for bookmarks and the back button. */
export interface View {
  /** The search; '' for all books. */
  readonly q: string;
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly sort: Sort;
  /** The id of the book in the dialog. */
  readonly book: number | 'new' | undefined;
}

/** The view that is shown. */
export interface ShownView {
  readonly view: ReadonlySignal<View>;
  /** The query of its books, as JSON. */
  readonly query: ReadonlySignal<string>;
  /** Whether it has not all books. */
  readonly isSearch: ReadonlySignal<boolean>;
}

/** The words of a search, as the service compares them. */
export function searchedWords(q: string): string[] {
  return typedWords(q);
}

/** The most words that the service searches. */
export const WORDS_MAX = 32;

export function hasTooManyWords(q: string): boolean {
  return searchedWords(q).length > WORDS_MAX;
}

/** Reads the query of a URL, and ignores invalid parameters. */
export function readView(search: string): View {
  const parameters = new URLSearchParams(search);
  const book = parameters.get('book');
  const q = parameters.get('q') ?? '';
  const numberOf = (name: string) => readYear(parameters.get(name) ?? '');
  return {
    q: hasTooManyWords(q) ? '' : q,
    from: numberOf('from'),
    to: numberOf('to'),
    sort: SORTS.find((sort) => sort === parameters.get('sort')) ?? 'id',
    book: book === 'new' ? book : numberOf('book'),
  };
}

/** The query of the URL of a view; '' for the default view. */
export function writeView({ q, from, to, sort, book }: View): string {
  const parameters = new URLSearchParams();
  if (q !== '') parameters.set('q', q);
  if (from !== undefined) parameters.set('from', String(from));
  if (to !== undefined) parameters.set('to', String(to));
  if (sort !== 'id') parameters.set('sort', sort);
  if (book !== undefined) parameters.set('book', String(book));
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}

export function queryOf({ q, from, to, sort }: View): BookQuery {
  return { q: q.trim() === '' ? undefined : q, year_from: from, year_to: to, sort };
}
