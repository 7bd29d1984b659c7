import { batch, computed, effect, signal, untracked } from '@preact/signals';
import type { Book, BookPage, BookQuery } from '../../../src/client/index.ts';
import { countedHidden, hiddenIds, isHidden, offsetOf } from '../book/hidden-books.ts';
import { queryOf, view } from '../page/address.ts';
import { client, signInState } from '../session/session.ts';
import { LoadedPages, type MissingRows } from './loaded-pages.ts';

/** Incremented when the loaded books change, as they are not a signal. */
export const revision = signal(0);

/** The number of matches that the service has counted. */
export const counted = signal<number | undefined>(undefined);

/** The number of matches without pending deletions; undefined while it is unknown. */
export const total = computed(() => {
  void revision.value;
  if (loaded.isWhole) return loaded.end;
  if (loadedQuery === undefined || counted.value === undefined) return undefined;
  return Math.max(counted.value - countedHidden.size, loaded.count);
});

/** Whether the first page of the current query is being loaded. */
export const isLoading = signal(true);

export const loadError = signal<unknown>(undefined);

/** Whether there is no book to show; unchanged while the next query is loaded, so that buttons do not move. */
export const isEmpty = signal(false);

/** Incremented when books change, and counts by decade are outdated. */
export const countRevision = signal(0);

/** The first page is short, to fill a screen quickly. */
const FIRST_PAGE_BOOKS = 100;
/** The rows that are drawn below the loaded ones while the number of matches is unknown. */
const UNCOUNTED_ROWS = 1_000;
/** The rows that are drawn before the first page. */
const SKELETON_ROWS = 12;

export let loaded = new LoadedPages();

let controller = new AbortController();
/** The query of the loaded books. */
let loadedQuery: string | undefined;
let requestedRows = { start: 0, end: 0 };
let isFetching = false;

effect(() => {
  if (loadError.value !== undefined) isEmpty.value = false;
  else if (total.value !== undefined) isEmpty.value = total.value === 0;
});

let shownQuery = '';
effect(() => {
  const key = JSON.stringify(queryOf(view.value));
  if (signInState.value === 'out') {
    shownQuery = '';
    controller.abort();
    countedHidden.clear();
    untracked(clear);
  } else if (key !== shownQuery) {
    shownQuery = key;
    void untracked(reload);
  }
});

/** The book of a row, from 0; undefined when it is not loaded. */
export const bookAt = (row: number) => loaded.at(row);

/** The number of rows, including those whose books are not loaded. */
export function rowCount(): number {
  void revision.value;
  const { end, isAtEnd } = loaded;
  if (isAtEnd) return end;
  if (loadedQuery === undefined) return SKELETON_ROWS;
  return counted.value === undefined
    ? end + UNCOUNTED_ROWS
    : Math.max(counted.value - countedHidden.size, end + 1);
}

/** Loads the books of these rows. */
export function loadRows(start: number, end: number): void {
  requestedRows = { start, end };
  if (!isFetching && !isLoading.value && loadError.value === undefined)
    void fetchRequestedRows(controller.signal);
}

/** Loads the visible rows of the current query. The loaded books stay until the response arrives, also after an error. */
export async function reload(): Promise<void> {
  controller.abort();
  controller = new AbortController();
  const { signal: abort } = controller;
  isLoading.value = true;
  isFetching = false;
  const query = queryOf(view.value);
  const key = JSON.stringify(query);
  const count = countBooks(query, abort).catch(() => undefined);
  try {
    const start = key === loadedQuery ? requestedRows.start : 0;
    const offset = start === 0 ? undefined : offsetOf(start);
    const page = await firstPage({ ...query, limit: FIRST_PAGE_BOOKS, offset }, abort);
    batch(() => {
      if (key !== loadedQuery) countedHidden.clear();
      clear();
      counted.value = undefined;
      loadedQuery = key;
      add({ start, after: undefined }, page);
      isLoading.value = false;
      loadError.value = undefined;
    });
    const matches = await count;
    if (!abort.aborted) counted.value = matches;
  } catch (error) {
    if (abort.aborted) return;
    batch(() => {
      loadError.value = error;
      if (key === loadedQuery) isLoading.value = false;
    });
  }
}

export function retry(): void {
  if (isLoading.value) void reload();
  else if (!isFetching) void fetchRequestedRows(controller.signal);
}

function clear(): void {
  loaded = new LoadedPages();
  loadedQuery = undefined;
  revision.value++;
}

async function fetchRequestedRows(abort: AbortSignal): Promise<void> {
  isFetching = true;
  try {
    for (;;) {
      const missing = loaded.missing(requestedRows.start, Math.min(requestedRows.end, rowCount()));
      if (!missing) break;
      const { after, limit } = missing;
      const query = queryOf(view.value);
      const offset = after === undefined ? offsetOf(missing.start) : undefined;
      const page = await firstPage({ ...query, limit, after, offset }, abort);
      const isBehindEnd = offset !== undefined && page.books.length === 0 && page.next === undefined;
      const matches = isBehindEnd ? await countBooks(query, abort).catch(() => undefined) : undefined;
      batch(() => {
        if (isBehindEnd) counted.value = Math.min(offset, matches ?? offset);
        add(missing, page);
        loadError.value = undefined;
      });
    }
  } catch (error) {
    if (!abort.aborted) loadError.value = error;
  } finally {
    if (!abort.aborted) isFetching = false;
  }
}

export async function firstPage(query: BookQuery, abort: AbortSignal) {
  abort.throwIfAborted();
  const { value } = await client.list(query, { signal: abort }).pages().next();
  abort.throwIfAborted();
  return value ?? { books: [], total: undefined, offset: undefined, next: undefined };
}

/** The number of books that match a query; its order does not matter. */
export async function countBooks(query: BookQuery, abort: AbortSignal): Promise<number | undefined> {
  return (await firstPage({ ...query, sort: 'id', limit: 1, count: true }, abort)).total;
}

/** Adds books that were read from a row, or after the loaded ones before a cursor. */
export function add(
  rows: Pick<MissingRows, 'start' | 'after'>,
  { books, next }: Pick<BookPage, 'books' | 'next'>,
): void {
  const shown: Book[] = [];
  for (const book of books) {
    if (isHidden(book)) countedHidden.set(book.id, rows.start + shown.length);
    else shown.push(book);
  }
  loaded.add(rows, { books: shown, next });
  revision.value++;
}

/** Shows other versions of books. */
export function replace(books: readonly Book[]): void {
  loaded.change(new Map(books.map((book) => [book.id, book])));
  reportChange();
}

/** Hides books from the list. @returns a function that shows them, or some of them, again */
export function hide(ids: ReadonlySet<number>): (shown?: ReadonlySet<number>) => void {
  const { pages: before } = loaded;
  const rows = loaded.remove(ids);
  const { pages: after } = loaded;
  for (const id of ids) {
    hiddenIds.add(id);
    if (rows.size > 0) countedHidden.set(id, rows.get(id) ?? Number.POSITIVE_INFINITY);
  }
  reportChange();
  return (shown = ids) => {
    const wereHidden = [...shown].filter((id) => hiddenIds.delete(id));
    if (wereHidden.length === 0) return;
    for (const id of wereHidden) countedHidden.delete(id);
    if (shown === ids && loaded.pages === after) {
      loaded.pages = before;
      reportChange();
    } else refresh();
  };
}

/** Counts a book no longer that the service has deleted. @param isListed whether it was in the list, and not hidden */
export function uncount(id: number, isListed = false): void {
  if ((countedHidden.delete(id) || isListed) && counted.value !== undefined) counted.value--;
}

export function reportChange(): void {
  batch(() => {
    revision.value++;
    countRevision.value++;
  });
}

/** Loads and counts the books again, after some were added or deleted. */
export function refresh(): void {
  void reload();
  countRevision.value++;
}
