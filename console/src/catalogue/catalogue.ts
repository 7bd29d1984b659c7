import { batch, computed, effect, signal, untracked } from '@preact/signals';
import type { Book, BookPage, BookQuery } from '../../../src/client/index.ts';
import { queryOf, view } from '../page/address.ts';
import { client, session } from '../session/session.ts';
import { type ListEnd, ListEnds, type ShownPart } from './list-ends.ts';
import { reverseOf } from './sort.ts';

/** Goes up with each change of the books. */
export const revision = signal(0);

/** How many books match, as the service has counted them beside the first page. */
const counted = signal<number | undefined>(undefined);

/** How many books match; undefined as long as that is not known. */
export const total = computed(() => {
  void revision.value;
  if (ends.head.isComplete) return ends.head.books.length;
  if (loaded === undefined || counted.value === undefined) return undefined;
  return Math.max(counted.value - takenOut.size, ends.head.books.length + 1);
});

/** Whether what is shown is what was asked for. */
export const isLoading = signal(true);

/** Why books are missing; undefined while all is well. */
export const fault = signal<unknown>(undefined);

/**
 * Whether there is no book to show. While others are asked for it stays as it was: whoever is just pressing a button
 * that stands in place of the table does not lose it.
 */
export const isEmpty = signal(false);

/** Goes up when books have changed so that whoever has counted them should do so again. */
export const changes = signal(0);

/** The first page is quick to come and fills a screen; those after it are long, for people who scroll far. */
const FIRST_PAGE_BOOKS = 100;
const PAGE_BOOKS = 1_000;

/** Whoever wants to see more has to search: a browser draws no page that is much higher, and this is some 40 MB. */
export const BOOKS_MAX = 300_000;

/** Ids of books that are about to be deleted, which are not shown any more. */
const leaving = new Set<number>();
/** Those of them that the service has counted among the matches. */
const takenOut = new Set<number>();

/** The books that are shown, as far as they have come. */
let ends = new ListEnds(BOOKS_MAX, false);

let abortion = new AbortController();
/** The query that the books are those of. */
let loaded: string | undefined;
/** The rows that can be seen. */
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

/** The book of a row, counted from 0; undefined where it has not come yet. */
export function bookAt(row: number): Book | undefined {
  return ends.at(row, total.value);
}

/** How many rows the list has: those whose books have not come yet, too. */
export function rowCount(): number {
  void revision.value;
  return Math.min(total.value ?? ends.head.books.length + (loaded === undefined ? 0 : PAGE_BOOKS), BOOKS_MAX);
}

/** Which part of the list is shown; undefined when it is all of it. */
export function shownPart(): ShownPart | undefined {
  void revision.value;
  return ends.shownPart(total.value);
}

/** Has the books of some rows fetched, from the nearer end of the list, as each page says where the next begins. */
export function want(start: number, end: number): void {
  wanted = { start, end };
  if (!isFetching && !isLoading.value && fault.value === undefined) void fetchWanted(abortion.signal);
}

/** Asks for what is shown anew, from the beginning. What is there stays until the answer has come. */
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

/** Goes on where a fault has stopped it. */
export function retry(): void {
  if (isLoading.value) void reload();
  else if (!isFetching) void fetchWanted(abortion.signal);
}

/** Takes away what is not what was asked for. */
function clear(): void {
  ends = new ListEnds(BOOKS_MAX, /^-?id$/.test(view.peek().sort));
  takenOut.clear();
  wanted = { start: 0, end: 0 };
  loaded = undefined;
  revision.value++;
}

/** Counts the matches beside the first page, which need not wait for that. */
async function countMatches(query: BookQuery, mine: AbortSignal): Promise<void> {
  try {
    counted.value = (await firstPage({ ...query, sort: 'id', limit: 1, count: true }, mine)).total;
  } catch {
    // Without a number the list is still a list.
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

/** The page of a list with which a query begins. */
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

/** Shows a book as it is now, where it is among those shown. Its place stays: rows do not jump under somebody's hand. */
export function replace(book: Book): void {
  ends.replace(book);
  noteChange();
}

/** Takes a book out of the list. @returns puts it back where it was */
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

/** The books that are shown have changed. */
function noteChange(): void {
  batch(() => {
    revision.value++;
    changes.value++;
  });
}

/** Whether a book is about to be deleted. */
export function isLeaving({ id }: Book): boolean {
  return leaving.has(id);
}

/** Books have come or gone: shows and counts them anew. */
export function refresh(): void {
  changes.value++;
  void reload();
}
