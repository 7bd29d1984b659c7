import { computed, effect, signal } from '@preact/signals';
import type { Book, RefusedError } from '../../../src/client/index.ts';
import { isHidden, shownPages } from '../book/hidden-books.ts';
import { loaded, rowCount, total } from '../catalogue/catalogue.ts';
import { queryOf, type View, view } from '../page/address.ts';
import { signInState } from '../session/session.ts';

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

let shownSearch: string | undefined;
// Books that do not match the search are never selected: the user would not see them.
effect(() => {
  const search = signInState.value === 'out' ? '' : searchOf(view.value);
  if (search !== shownSearch) clearSelection();
  shownSearch = search;
});

/** What is searched, in any order of the list. */
export function searchOf({ q, from, to }: View): string {
  return JSON.stringify([q.trim(), from, to]);
}

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
    const listed = new Map(loaded.books().map((book) => [book.id, book]));
    const unlisted = [...books.values()].filter((book) => !listed.has(book.id) && !isHidden(book));
    yield [...listed.values()].filter(({ id }) => books.has(id)).concat(unlisted);
    return;
  }
  const excluded = new Set(books.keys());
  for await (const page of shownPages(queryOf(view.value), abort))
    yield page.filter((book) => !excluded.has(book.id));
}
