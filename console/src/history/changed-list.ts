import { batch, effect, signal } from '@preact/signals';
import type { Book, BookChange } from '../../../src/client/index.ts';
import { hiddenIds } from '../book/hidden-books.ts';
import {
  countBooks,
  counted,
  isLoading,
  loaded,
  reload,
  reportChange,
  revision,
  uncount,
} from '../catalogue/catalogue.ts';
import { formatMessage } from '../language/format.ts';
import { allTexts } from '../language/texts.ts';
import { queryOf, view } from '../page/address.ts';
import { showToast } from '../page/toasts.tsx';
import { setSelected } from '../selection/selection.ts';

/** The books are counted at most this often. */
const COUNT_MS = 5_000;

/** The last change that was received. */
export const lastChange = signal<BookChange | undefined>(undefined);

/** The number of books that match the query, and are not in the list, as it would move. */
const newBooks = signal(0);
let isCountPlanned = false;
let countedAt = 0;

effect(() => {
  if (isLoading.value) newBooks.value = 0;
});

effect(() => {
  if (newBooks.value === 0) return undefined;
  return showToast({
    text: () => formatMessage(allTexts.value.newBooks, { count: newBooks.value }),
    action: { label: () => allTexts.value.show, run: showNewBooks },
  });
});

function showNewBooks(): void {
  void reload();
  if (view.value.sort === '-id') scrollTo(0, 0);
}

/** Changes the loaded books as the service has changed them. Only their own rows move. */
export function applyChanges(changes: readonly BookChange[]): void {
  const last = new Map(changes.map((change) => [change.book.id, change]));
  const wereNew = new Set<number>();
  for (const { type, book } of changes) if (type === 'created') wereNew.add(book.id);
  const deleted = [...last.values()].filter(({ type }) => type === 'deleted').map(({ book }) => book);
  const stored = [...last.values()].filter(({ type }) => type !== 'deleted').map(({ book }) => book);
  batch(() => {
    const rows = loaded.remove(deleted.map(({ id }) => id));
    for (const { id } of deleted) {
      const isOfRest = isAll() && !loaded.isWhole && !wereNew.has(id) && !hiddenIds.has(id);
      uncount(id, rows.has(id) || isOfRest);
      // Pages that are being loaded may have it.
      hiddenIds.add(id);
    }
    setSelected(deleted, false);
    for (const { id } of stored) hiddenIds.delete(id);
    const stillListed = loaded.change(new Map(stored.map((book) => [book.id, book])));
    for (const book of stored) if (!stillListed.has(book.id) && wereNew.has(book.id)) append(book);
    revision.value++;
  });
  if (isCountPlanned) return;
  isCountPlanned = true;
  setTimeout(() => void countAgain(), Math.max(0, countedAt + COUNT_MS - Date.now()));
}

/** Adds a book where no other moves: at the end of the list. */
function append(book: Book): void {
  const { isAtEnd, pages } = loaded;
  const isLast = (pages.at(-1)?.books.at(-1)?.id ?? 0) < book.id;
  if (!isAll() || view.value.sort !== 'id' || !isAtEnd || !isLast) return;
  loaded.append(book);
  if (counted.value !== undefined) counted.value++;
}

function isAll(): boolean {
  const { q, year_from, year_to } = queryOf(view.value);
  return q === undefined && year_from === undefined && year_to === undefined;
}

/** Finds out how many books are not in the list. */
async function countAgain(): Promise<void> {
  isCountPlanned = false;
  countedAt = Date.now();
  const { value: before } = view;
  try {
    const total = await countBooks(queryOf(view.value), new AbortController().signal);
    if (view.value === before && !isLoading.value && total !== undefined && counted.value !== undefined) {
      newBooks.value = Math.max(0, total - counted.value);
      // Books that were not loaded were deleted, or no longer match.
      if (total < counted.value && !loaded.isWhole) counted.value = total;
    }
  } catch {
    // The next change counts again.
  }
  reportChange();
}
