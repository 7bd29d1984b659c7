import { computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import type { Book, RefusedError } from 'bookkeeping-client/index.ts';
import type { BookList } from './book-list.ts';
import type { ShownView } from './view.ts';

/**
 * Why a book has not been changed: another user deleted or changed it, it would have neither title nor author, the history does not
 * say what it was, or the service rejected.
 */
export interface Failure {
  readonly book: Book;
  readonly reason: 'missing' | 'changed' | 'nameless' | 'unknown' | RefusedError;
  /** The book as another user has changed it. */
  readonly now?: Book;
}

/**
 * The selected books. Those that do not match the search are never selected, as the user would not see them: while the rows are
 * those of the last search, none is selected, and {@link Selection.all} waits for the matches.
 */
export class Selection {
  /** The selected books that could not be changed or deleted. */
  readonly failures = signal<ReadonlyMap<number, Failure>>(new Map());
  readonly count = computed(() => {
    void this.#changes.value;
    const { total, rowCount, isPending } = this.#list;
    if (isPending.value) return 0;
    return this.#isInverse
      ? Math.max((total.value ?? rowCount.value) - this.#books.size, 0)
      : this.#books.size;
  });
  /** Whether {@link Selection.count} is the number of selected books: that of all is unknown until the service has counted them. */
  readonly isCounted = computed(() => {
    void this.#changes.value;
    const { total, isCounting } = this.#list;
    return !this.#isInverse || (total.value !== undefined && !isCounting.value);
  });
  readonly #list: BookList;
  /** The selected books, by id; if inverse, all books that match the search except these. */
  readonly #books = new Map<number, Book>();
  #isInverse = false;
  /** Incremented when the selection changes. */
  readonly #changes = signal(0);

  constructor(list: BookList, address: ShownView, isSignedIn: ReadonlySignal<boolean>) {
    this.#list = list;
    const search = computed(() => {
      const { q, from, to } = address.view.value;
      return isSignedIn.value && JSON.stringify([q.trim(), from, to]);
    });
    effect(() => {
      void search.value;
      this.clear();
    });
  }

  has({ id }: Book): boolean {
    void this.#changes.value;
    return !this.#list.isPending.value && this.#books.has(id) !== this.#isInverse;
  }

  set(changed: Iterable<Book>, isSelected: boolean): void {
    if (this.#list.isPending.value) return;
    for (const book of changed) {
      if (isSelected === this.#isInverse) this.#books.delete(book.id);
      else this.#books.set(book.id, book);
    }
    this.#changes.value = this.#changes.peek() + 1;
  }

  /** Selects the books of all rows between two rows. Those that are not loaded are read. */
  async setRange(one: number, other: number): Promise<void> {
    if (this.#list.isPending.value) return;
    const [start, end] = [Math.min(one, other), Math.max(one, other) + 1];
    const rows = Array.from({ length: end - start }, (_, index) => this.#list.at(start + index));
    this.set(
      rows.filter((book) => book !== undefined),
      true,
    );
    if (!rows.includes(undefined)) return;
    const { value: changes } = this.#changes;
    const books = await this.#list.readRows(start, end);
    if (changes === this.#changes.value) this.set(books, true);
  }

  /** Forgets deleted books: they are not selected, and not left out of all books either, which the list counts without them. */
  forget(deleted: Iterable<Book>): void {
    for (const { id } of deleted) this.#books.delete(id);
    this.#changes.value = this.#changes.peek() + 1;
  }

  /** Takes over later versions of selected books. */
  update(books: readonly Book[]): void {
    for (const book of books) if (this.#books.has(book.id)) this.#books.set(book.id, book);
  }

  all(): void {
    this.#books.clear();
    this.#isInverse = true;
    this.#changes.value++;
  }

  clear(): void {
    this.#books.clear();
    this.#isInverse = false;
    this.failures.value = new Map();
    this.#changes.value = this.#changes.peek() + 1;
  }

  /** The books that are selected at the time of the call, page by page; those selected one by one in the order of the list. */
  pages(abort: AbortSignal): Iterable<readonly Book[]> | AsyncIterable<readonly Book[]> {
    if (!this.#isInverse) return [this.loaded()];
    return withoutBooks(this.#list.pages(abort), new Set(this.#books.keys()));
  }

  /** The selected books that are in memory, in the current versions, which the list has. */
  loaded(): Book[] {
    const listed = this.#list.loaded.books();
    const ids = new Set(listed.map(({ id }) => id));
    const others = this.#isInverse ? [] : [...this.#books.values()].filter(({ id }) => !ids.has(id));
    return [...listed.filter((book) => this.has(book)), ...others];
  }
}

async function* withoutBooks(
  pages: AsyncIterable<readonly Book[]>,
  excluded: ReadonlySet<number>,
): AsyncGenerator<readonly Book[], void> {
  for await (const page of pages) yield page.filter((book) => !excluded.has(book.id));
}
