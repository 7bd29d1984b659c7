import { computed, effect, signal } from '@preact/signals';
import type { Book, RefusedError } from '../../../src/client/index.ts';
import { bookAt, isHidden, isLoading, loadRows, revision, rowCount, total } from '../catalogue/catalogue.ts';
import { queryOf, view } from '../page/address.ts';
import { client, signInState } from '../session/session.ts';

/** Why a selected book has not been changed: it was deleted or changed by another user, or the refusal of the service. */
export interface Failure {
  readonly book: Book;
  readonly reason: 'missing' | 'changed' | RefusedError;
}

/** The selected books, by id; with `isInverse`, all books that match the search except these. */
const books = new Map<number, Book>();
let isInverse = false;
/** Incremented when the selection changes. */
const changes = signal(0);

/** The selected books that could not be changed or deleted. */
export const failures = signal<ReadonlyMap<number, Failure>>(new Map());

export const selectedCount = computed(() => {
  void changes.value;
  return isInverse ? Math.max((total.value ?? rowCount()) - books.size, 0) : books.size;
});

const PAGE_BOOKS = 1_000;

let shownSearch: string | undefined;
// Books that do not match the search are never selected: the user would not see them.
effect(() => {
  const { q, from, to } = view.value;
  const search = JSON.stringify([signInState.value === 'out', q.trim(), from, to]);
  if (search !== shownSearch) clearSelection();
  shownSearch = search;
});

export function isSelected({ id }: Book): boolean {
  void changes.value;
  return books.has(id) !== isInverse;
}

export function setSelected(changed: Iterable<Book>, isNowSelected: boolean): void {
  for (const book of changed) {
    if (isNowSelected === isInverse) books.delete(book.id);
    else books.set(book.id, book);
  }
  changes.value++;
}

/** Selects the books of all rows between two rows, once they are loaded. */
export async function selectRange(one: number, other: number): Promise<void> {
  const [start, end] = [Math.min(one, other), Math.max(one, other) + 1];
  if (await loadRange(start, end)) setSelected(booksOf(start, end), true);
}

export function selectAll(): void {
  books.clear();
  isInverse = true;
  changes.value++;
}

export function clearSelection(): void {
  books.clear();
  isInverse = false;
  failures.value = new Map();
  changes.value++;
}

/** The selected books, page by page; those that are selected one by one in the order of the list. */
export async function* selectedPages(abort: AbortSignal): AsyncGenerator<readonly Book[], void> {
  if (!isInverse) {
    // The list has the current versions.
    const listed = new Map(booksOf(0, rowCount()).map((book) => [book.id, book]));
    const unlisted = [...books.values()].filter((book) => !listed.has(book.id) && !isHidden(book));
    yield [...listed.values()].filter(({ id }) => books.has(id)).concat(unlisted);
    return;
  }
  const excluded = new Set(books.keys());
  for await (const page of client
    .list({ ...queryOf(view.value), limit: PAGE_BOOKS }, { signal: abort })
    .pages())
    yield page.books.filter((book) => !excluded.has(book.id) && !isHidden(book));
}

/** The loaded books of the rows from `start` to before `end`. */
function booksOf(start: number, end: number): Book[] {
  const loaded: Book[] = [];
  for (let row = start; row < end; row++) {
    const book = bookAt(row);
    if (book) loaded.push(book);
  }
  return loaded;
}

/** Loads the books of rows. @returns false when the list is loaded again meanwhile */
function loadRange(start: number, end: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const stop = effect(() => {
    void revision.value;
    if (isLoading.value) resolve(false);
    else if (booksOf(start, end).length === end - start) resolve(true);
    else loadRows(start, end);
  });
  void promise.then(stop);
  return promise;
}
