import { signal } from '@preact/signals';
import type { BookQuery } from '../../../src/client/index.ts';
import { SORTS, type Sort } from '../catalogue/sort.ts';

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

/** The view in the URL. Only {@link show} changes it. */
export const view = signal<View>(readView(location.search));

addEventListener('popstate', () => {
  view.value = readView(location.search);
});

/**
 * Changes the view.
 *
 * @param how `push` adds a history entry, `type` one for consecutive changes, `replace` none
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

export function showNewest(): void {
  show({ q: '', from: undefined, to: undefined, sort: '-id' });
  scrollTo(0, 0);
}

/** Closes the dialog of a book: by going back, if opening it added a history entry. */
export function closeBook(): void {
  if ((history.state as EntryState | null)?.hasOpened) history.back();
  else show({ book: undefined }, 'replace');
}

interface EntryState {
  readonly isTyped: boolean;
  /** Whether opening a book added the entry. */
  readonly hasOpened: boolean;
}

/** Reads the query of a URL, and ignores invalid parameters. */
function readView(search: string): View {
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

/** The query that {@link readView} reads as this view; '' for the default view. */
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

/** A safe integer, as the API accepts for a year. */
export function readInteger(text: string | null): number | undefined {
  if (text === null || !/^\s*[-−]?[0-9]{1,16}\s*$/.test(text)) return undefined;
  const number = Number(text.replace('−', '-'));
  return Number.isSafeInteger(number) ? number : undefined;
}
