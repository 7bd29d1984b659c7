import { signal } from '@preact/signals';
import type { BookQuery } from '../../../src/client/index.ts';
import { SORTS, type Sort } from '../catalogue/sort.ts';

/** What is shown, as the address bar has it: it can be bookmarked, and the back button leads to what was shown before. */
export interface View {
  /** What is searched for; '' for everything. */
  readonly q: string;
  /** The first and the last year, where these matter. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly sort: Sort;
  /** The book that is open in a dialog, by its id, or a new one. */
  readonly book: number | 'new' | undefined;
}

/** What the address bar has now. Changed with {@link show} only. */
export const view = signal<View>(readView(location.search));

addEventListener('popstate', () => {
  view.value = readView(location.search);
});

/**
 * Shows something else.
 *
 * @param how `push` for what the back button should undo by itself, `type` for one of many changes in a row, of which the
 *   back button undoes all at once, `replace` for what it should not know of
 */
export function show(changes: Partial<View>, how: 'push' | 'type' | 'replace' = 'push'): void {
  const next = { ...view.value, ...changes };
  const search = writeView(next);
  if (search === writeView(view.value)) return;
  const isTyped = how === 'type';
  const isReplaced = how === 'replace' || (isTyped && (history.state as EntryState | null)?.isTyped);
  const state: EntryState = { isTyped, hasOpened: 'book' in changes && changes.book !== undefined };
  history[isReplaced ? 'replaceState' : 'pushState'](state, '', search || location.pathname);
  view.value = next;
}

/** Shows the books that were added last, from the first one on. */
export function showNewest(): void {
  show({ q: '', from: undefined, to: undefined, sort: '-id' });
  scrollTo(0, 0);
}

/** Closes the dialog of a book: a step back where that has been opened here. */
export function closeBook(): void {
  if ((history.state as EntryState | null)?.hasOpened) history.back();
  else show({ book: undefined }, 'replace');
}

/** What is remembered of an entry of the history. */
interface EntryState {
  readonly isTyped: boolean;
  /** Whether the entry came about by opening a book. */
  readonly hasOpened: boolean;
}

/** Reads the query of an address. What it cannot mean is left out. */
export function readView(search: string): View {
  const parameters = new URLSearchParams(search);
  const book = parameters.get('book');
  return {
    q: parameters.get('q') ?? '',
    from: readInteger(parameters.get('from')),
    to: readInteger(parameters.get('to')),
    sort: SORTS.find((sort) => sort === parameters.get('sort')) ?? 'id',
    book: book === 'new' ? book : readInteger(book),
  };
}

/** The query that {@link readView} makes this view of; '' for the one without anything particular. */
export function writeView({ q, from, to, sort, book }: View): string {
  const parameters = new URLSearchParams();
  if (q !== '') parameters.set('q', q);
  if (from !== undefined) parameters.set('from', String(from));
  if (to !== undefined) parameters.set('to', String(to));
  if (sort !== 'id') parameters.set('sort', sort);
  if (book !== undefined) parameters.set('book', String(book));
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}

/** The parts of a view that say which books it has. */
export function queryOf({ q, from, to, sort }: View): BookQuery {
  return { q: q.trim() === '' ? undefined : q, year_from: from, year_to: to, sort };
}

/** A whole number that the API takes as a year. */
export function readInteger(text: string | null): number | undefined {
  if (text === null || !/^\s*[-−]?[0-9]{1,16}\s*$/.test(text)) return undefined;
  const number = Number(text.replace('−', '-'));
  return Number.isSafeInteger(number) ? number : undefined;
}
