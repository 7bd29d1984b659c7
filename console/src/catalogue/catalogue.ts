import { batch, computed, effect, signal, untracked } from '@preact/signals';
import type { Book, BookPage, BookQuery } from '../../../src/client/index.ts';
import { queryOf, view } from '../page/address.ts';
import { client, signInState } from '../session/session.ts';
import { type ListEnd, ListEnds, type ShownPart } from './list-ends.ts';
import { reverseOf } from './sort.ts';

/** Incremented when the loaded books change, as they are not a signal. */
export const revision = signal(0);

/** The number of matches that the service has counted. */
export const counted = signal<number | undefined>(undefined);

/** The number of matches without pending deletions; undefined while it is unknown. */
export const total = computed(() => {
  void revision.value;
  if (ends.head.isComplete) return ends.head.books.length;
  if (loadedQuery === undefined || counted.value === undefined) return undefined;
  return Math.max(counted.value - countedHiddenIds.size, ends.head.books.length + 1);
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
const PAGE_BOOKS = 1_000;
/** The rows that are drawn before the first page. */
const SKELETON_ROWS = 12;

/** The limit of the list: browsers limit the height of a page, and these books take about 40 MB. */
export const BOOKS_MAX = 300_000;

/** The ids of books that are deleted, or will be, and are not shown. */
export const hiddenIds = new Set<number>();
/** Those of them that `counted` includes. */
export const countedHiddenIds = new Set<number>();

export let ends = new ListEnds(BOOKS_MAX, false);

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
    untracked(clear);
  } else if (key !== shownQuery) {
    shownQuery = key;
    void untracked(reload);
  }
});

/** The book of a row, from 0; undefined when it is not loaded. */
export function bookAt(row: number): Book | undefined {
  return ends.at(row, total.value);
}

/** The number of rows, including those whose books are not loaded. */
export function rowCount(): number {
  void revision.value;
  const estimate = ends.head.books.length + (loadedQuery === undefined ? SKELETON_ROWS : PAGE_BOOKS);
  return Math.min(total.value ?? estimate, BOOKS_MAX);
}

/** The shown part of the list; undefined when all of it is shown. */
export function shownPart(): ShownPart | undefined {
  void revision.value;
  return ends.shownPart(total.value);
}

/** Loads the books of these rows, from the nearer end of the list. */
export function loadRows(start: number, end: number): void {
  requestedRows = { start, end };
  if (!isFetching && !isLoading.value && loadError.value === undefined)
    void fetchRequestedRows(controller.signal);
}

/** Loads the current query from the beginning. The loaded books stay until the response arrives, also after an error. */
export async function reload(): Promise<void> {
  controller.abort();
  controller = new AbortController();
  const { signal: abort } = controller;
  isLoading.value = true;
  isFetching = false;
  const query = queryOf(view.value);
  const key = JSON.stringify(query);
  const count = countMatches(query, abort);
  try {
    const page = await firstPage({ ...query, limit: FIRST_PAGE_BOOKS }, abort);
    batch(() => {
      clear();
      counted.value = undefined;
      loadedQuery = key;
      add(ends.head, page);
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
  ends = new ListEnds(BOOKS_MAX, /^-?id$/.test(view.peek().sort));
  countedHiddenIds.clear();
  requestedRows = { start: 0, end: 0 };
  loadedQuery = undefined;
  revision.value++;
}

async function countMatches(query: BookQuery, abort: AbortSignal): Promise<number | undefined> {
  try {
    return (await firstPage({ ...query, sort: 'id', limit: 1, count: true }, abort)).total;
  } catch {
    return undefined;
  }
}

async function fetchRequestedRows(abort: AbortSignal): Promise<void> {
  isFetching = true;
  try {
    for (;;) {
      const missing = ends.missing(requestedRows.start, requestedRows.end, total.value);
      if (!missing) break;
      const { end } = missing;
      const limit = missing.count < FIRST_PAGE_BOOKS ? 2 * FIRST_PAGE_BOOKS : PAGE_BOOKS;
      const sort = end === ends.head ? view.value.sort : reverseOf(view.value.sort);
      const page = await firstPage({ ...queryOf(view.value), sort, limit, after: end.next }, abort);
      batch(() => {
        add(end, page);
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
  return value ?? { books: [], total: undefined, next: undefined };
}

function add(end: ListEnd, page: BookPage): void {
  for (const { id } of page.books.filter(isHidden)) countedHiddenIds.add(id);
  ends.add(end, { ...page, books: page.books.filter((book) => !isHidden(book)) });
  revision.value++;
}

/** Shows other versions of books. */
export function replace(books: readonly Book[]): void {
  ends.replace(new Map(books.map((book) => [book.id, book])));
  reportChange();
}

/** Hides books from the list. @returns a function that shows them, or some of them, again */
export function hide(ids: ReadonlySet<number>): (shown?: ReadonlySet<number>) => void {
  const restore = ends.remove(ids);
  const { signal: abort } = controller;
  for (const id of ids) {
    hiddenIds.add(id);
    if (restore) countedHiddenIds.add(id);
  }
  reportChange();
  return (shown = ids) => {
    const wereHidden = [...shown].filter((id) => hiddenIds.delete(id));
    if (wereHidden.length === 0) return;
    if (restore && !abort.aborted && shown === ids) {
      restore();
      for (const id of ids) countedHiddenIds.delete(id);
      reportChange();
    } else refresh();
  };
}

export function reportChange(): void {
  batch(() => {
    revision.value++;
    countRevision.value++;
  });
}

/** Whether a book has a pending deletion. */
export function isHidden({ id }: Book): boolean {
  return hiddenIds.has(id);
}

/** Loads and counts the books again, after some were added or deleted. */
export function refresh(): void {
  void reload();
  countRevision.value++;
}
