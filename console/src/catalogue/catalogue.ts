import { batch, computed, effect, signal, untracked } from '@preact/signals';
import type { Book, BookQuery } from '../../../src/client/index.ts';
import { type View, view } from '../page/address.ts';
import { client, session } from '../session/session.ts';

/** The books that are shown, as far as they have come, in their order. */
const books: Book[] = [];

/** Goes up with each change of the books. */
export const revision = signal(0);

/** How many books match, as the service has counted them beside the first page. */
const counted = signal<number | undefined>(undefined);

/** How many books match; undefined as long as that is not known. */
export const total = computed(() => {
  void revision.value;
  if (next === undefined) return isLoading.value ? undefined : books.length;
  return counted.value === undefined ? undefined : counted.value - takenOut;
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
/** How many of them the service has counted among the matches. */
let takenOut = 0;

let abortion = new AbortController();
let next: string | undefined;
/** The query that the books are those of. */
let loaded: string | undefined;
/** How many books are wanted by whoever looks. */
let wanted = 0;
let isFetching = false;

effect(() => {
  if (fault.value !== undefined) isEmpty.value = false;
  else if (total.value !== undefined) isEmpty.value = total.value === 0;
});

/** The parts of a view that say which books it has. */
export function queryOf({ q, from, to, sort }: View): BookQuery {
  return { q: q.trim() === '' ? undefined : q, year_from: from, year_to: to, sort };
}

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

/** The book at a place in the list, counted from 0; undefined where it has not come yet. */
export function bookAt(index: number): Book | undefined {
  return books[index];
}

/** How many rows the list has: those whose books have not come yet, too. */
export function rowCount(): number {
  void revision.value;
  const rest = next === undefined ? 0 : Math.max((total.value ?? 0) - books.length, PAGE_BOOKS);
  return Math.min(books.length + rest, BOOKS_MAX);
}

/** Has all books fetched up to a place in the list, one page after the other, as each says where the next begins. */
export function want(index: number): void {
  wanted = Math.min(index, BOOKS_MAX);
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
      next = page.next;
      append(page.books);
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
  books.length = takenOut = wanted = 0;
  next = loaded = undefined;
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
      if (next === undefined || books.length >= wanted) break;
      const limit = wanted - books.length < FIRST_PAGE_BOOKS ? 2 * FIRST_PAGE_BOOKS : PAGE_BOOKS;
      const page = await firstPage({ ...queryOf(view.value), limit, after: next }, mine);
      batch(() => {
        next = page.next;
        append(page.books);
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

function append(more: readonly Book[]): void {
  for (const book of more) {
    if (leaving.has(book.id)) takenOut++;
    else books.push(book);
  }
  revision.value++;
}

/** Shows a book as it is now, where it is among those shown. Its place stays: rows do not jump under somebody's hand. */
export function replace(book: Book): void {
  const index = books.findIndex(({ id }) => id === book.id);
  if (index !== -1) books[index] = book;
  revision.value++;
  changes.value++;
}

/** Takes a book out of the list. @returns puts it back where it was */
export function takeOut(id: number): () => void {
  leaving.add(id);
  const index = books.findIndex((book) => book.id === id);
  const [book] = index === -1 ? [] : books.splice(index, 1);
  const { signal: mine } = abortion;
  batch(() => {
    if (book) takenOut++;
    revision.value++;
    changes.value++;
  });
  return () => {
    if (!leaving.delete(id)) return;
    if (mine.aborted || !book) {
      void reload();
      return;
    }
    books.splice(index, 0, book);
    batch(() => {
      takenOut--;
      revision.value++;
      changes.value++;
    });
  };
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
