import { batch, computed, effect, signal, untracked } from '@preact/signals';
import type { Book, BookPage, BookQuery } from '../../../src/client/index.ts';
import { queryOf, view } from '../page/address.ts';
import { client, session } from '../session/session.ts';
import { type ListEnd, ListEnds, type ShownPart } from './list-ends.ts';
import { reverseOf } from './sort.ts';

/** Incremented with each change of the loaded books, which are no signal. */
export const revision = signal(0);

/** The number of matches that the service has counted. */
const counted = signal<number | undefined>(undefined);

/** The number of matches without pending deletions; undefined while it is unknown. */
export const total = computed(() => {
  void revision.value;
  if (ends.head.isComplete) return ends.head.books.length;
  if (loaded === undefined || counted.value === undefined) return undefined;
  return Math.max(counted.value - takenOut.size, ends.head.books.length + 1);
});

/** Whether the first page of the current query is being loaded. */
export const isLoading = signal(true);

export const fault = signal<unknown>(undefined);

/** Whether there is no book to show. It does not change while the next query is loaded, so that buttons do not move. */
export const isEmpty = signal(false);

/** Incremented when books have changed and counts are outdated. */
export const changes = signal(0);

/** The first page loads quickly and fills a screen; the next ones are longer. */
const FIRST_PAGE_BOOKS = 100;
const PAGE_BOOKS = 1_000;

/** The limit of the list: browsers support no much higher page, and this takes about 40 MB. */
export const BOOKS_MAX = 300_000;

/** Ids of books with a pending deletion, which are not shown. */
const leaving = new Set<number>();
/** Those of them that are in `counted`. */
const takenOut = new Set<number>();

let ends = new ListEnds(BOOKS_MAX, false);

let abortion = new AbortController();
/** The query of the loaded books. */
let loaded: string | undefined;
let wanted = { start: 0, end: 0 };
let isFetching = false;

effect(() => {
  if (fault.value !== undefined) isEmpty.value = false;
  else if (total.value !== undefined) isEmpty.value = total.value === 0;
});

let shown = '';
effect(() => {
  const asked = JSON.stringify(queryOf(view.value));
  if (session.value === 'out') {
    shown = '';
    abortion.abort();
  } else if (asked !== shown) {
    shown = asked;
    void untracked(reload);
  }
});

/** The book of a row, counted from 0; undefined when it is not loaded. */
export function bookAt(row: number): Book | undefined {
  return ends.at(row, total.value);
}

/** The number of rows, including those whose books are not loaded. */
export function rowCount(): number {
  void revision.value;
  return Math.min(total.value ?? ends.head.books.length + (loaded === undefined ? 0 : PAGE_BOOKS), BOOKS_MAX);
}

/** The shown part of the list; undefined when all of it is shown. */
export function shownPart(): ShownPart | undefined {
  void revision.value;
  return ends.shownPart(total.value);
}

/** Loads the books of these rows, from the nearer end of the list. */
export function want(start: number, end: number): void {
  wanted = { start, end };
  if (!isFetching && !isLoading.value && fault.value === undefined) void fetchWanted(abortion.signal);
}

/** Loads the current query from the beginning. The loaded books stay until the response arrives. */
export async function reload(): Promise<void> {
  abortion.abort();
  abortion = new AbortController();
  const { signal: mine } = abortion;
  isLoading.value = true;
  isFetching = false;
  const query = queryOf(view.value);
  const asked = JSON.stringify(query);
  void countMatches(query, mine);
  try {
    const page = await firstPage({ ...query, limit: FIRST_PAGE_BOOKS }, mine);
    batch(() => {
      clear();
      loaded = asked;
      add(ends.head, page);
      isLoading.value = false;
      fault.value = undefined;
    });
  } catch (error) {
    if (mine.aborted) return;
    batch(() => {
      fault.value = error;
      if (asked === loaded) isLoading.value = false;
      else clear();
    });
  }
}

export function retry(): void {
  if (isLoading.value) void reload();
  else if (!isFetching) void fetchWanted(abortion.signal);
}

function clear(): void {
  ends = new ListEnds(BOOKS_MAX, /^-?id$/.test(view.peek().sort));
  takenOut.clear();
  wanted = { start: 0, end: 0 };
  loaded = undefined;
  revision.value++;
}

async function countMatches(query: BookQuery, mine: AbortSignal): Promise<void> {
  try {
    counted.value = (await firstPage({ ...query, sort: 'id', limit: 1, count: true }, mine)).total;
  } catch {
    if (!mine.aborted) counted.value = undefined;
  }
}

async function fetchWanted(mine: AbortSignal): Promise<void> {
  isFetching = true;
  try {
    for (;;) {
      const missing = ends.missing(wanted.start, wanted.end, total.value);
      if (!missing) break;
      const { end } = missing;
      const limit = missing.count < FIRST_PAGE_BOOKS ? 2 * FIRST_PAGE_BOOKS : PAGE_BOOKS;
      const sort = end === ends.head ? view.value.sort : reverseOf(view.value.sort);
      const page = await firstPage({ ...queryOf(view.value), sort, limit, after: end.next }, mine);
      batch(() => {
        add(end, page);
        fault.value = undefined;
      });
    }
  } catch (error) {
    if (!mine.aborted) fault.value = error;
  } finally {
    if (!mine.aborted) isFetching = false;
  }
}

export async function firstPage(query: BookQuery, mine: AbortSignal) {
  mine.throwIfAborted();
  const { value } = await client.list(query, { signal: mine }).pages().next();
  mine.throwIfAborted();
  return value ?? { books: [], total: undefined, next: undefined };
}

function add(end: ListEnd, page: BookPage): void {
  const gone = page.books.filter(isLeaving);
  for (const { id } of gone) takenOut.add(id);
  ends.add(end, gone.length === 0 ? page : { ...page, books: page.books.filter((book) => !isLeaving(book)) });
  revision.value++;
}

export function replace(book: Book): void {
  ends.replace(book);
  noteChange();
}

/** Removes a book from the list. @returns puts it back in its row */
export function takeOut(id: number): () => void {
  leaving.add(id);
  const putBack = ends.takeOut(id);
  const { signal: mine } = abortion;
  if (putBack) takenOut.add(id);
  noteChange();
  return () => {
    if (!leaving.delete(id)) return;
    if (putBack && !mine.aborted) {
      putBack();
      takenOut.delete(id);
      noteChange();
    } else void reload();
  };
}

function noteChange(): void {
  batch(() => {
    revision.value++;
    changes.value++;
  });
}

/** Whether a book has a pending deletion. */
export function isLeaving({ id }: Book): boolean {
  return leaving.has(id);
}

/** Loads and counts the books again after some were added or deleted. */
export function refresh(): void {
  changes.value++;
  void reload();
}
