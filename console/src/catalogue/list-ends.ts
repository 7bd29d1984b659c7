import type { Book, BookPage } from '../../../src/client/index.ts';

/** The books loaded from one end of a list, in order from that end. */
export interface ListEnd {
  readonly books: Book[];
  /** The cursor of the next page; undefined before the first page. */
  next: string | undefined;
  isComplete: boolean;
}

/** The numbers of the first and of the last books that are shown, and of all books. */
export interface ShownPart {
  readonly first: number;
  readonly last: number;
  readonly count: number;
}

/** The books of a list, loaded from both ends. If it is too long, only its first and its last rows are shown. */
export class ListEnds {
  readonly head: ListEnd = { books: [], next: undefined, isComplete: false };
  readonly tail: ListEnd = { books: [], next: undefined, isComplete: false };
  readonly #rowsMax: number;
  readonly #canReadTail: boolean;

  /** @param canReadTail whether the service can list in the reverse order */
  constructor(rowsMax: number, canReadTail: boolean) {
    this.#rowsMax = rowsMax;
    this.#canReadTail = canReadTail;
  }

  /** The number of rows for the first books of a list of `total`; the other rows are for the last books. */
  headRows(total = 0): number {
    return this.#canReadTail && total > this.#rowsMax ? this.#rowsMax / 2 : this.#rowsMax;
  }

  /** The shown part of a list of `count` books; undefined when all are shown. */
  shownPart(count = 0): ShownPart | undefined {
    const first = this.headRows(count);
    return count > this.#rowsMax ? { first, last: this.#rowsMax - first, count } : undefined;
  }

  /** The book of a row; undefined when it is not loaded. @param total the number of books, if known */
  at(row: number, total?: number): Book | undefined {
    const isSplit = this.headRows(total) < this.#rowsMax;
    const isOfHead = row < this.headRows(total);
    if (isOfHead && (isSplit || row < this.head.books.length)) return this.head.books[row];
    return total === undefined ? undefined : this.tail.books[Math.min(total, this.#rowsMax) - 1 - row];
  }

  /** The end to load from, and the number of books, for the rows from `start` to before `end`; undefined when all are loaded. */
  missing(start: number, end: number, total?: number): { end: ListEnd; count: number } | undefined {
    const { head, tail } = this;
    const rows = Math.min(total ?? Number.POSITIVE_INFINITY, this.#rowsMax);
    const headRows = this.headRows(total);
    const isSplit = headRows < this.#rowsMax;
    const first = Math.max(start, Math.min(head.books.length, headRows));
    const last = Math.min(end, rows - Math.min(tail.books.length, isSplit ? rows - headRows : rows));
    if (first >= last || head.isComplete) return undefined;
    const fromHead = Math.min(last, headRows) - head.books.length;
    const fromTail = rows - first - tail.books.length;
    const canReadTail = this.#canReadTail && total !== undefined && !tail.isComplete;
    if (isSplit && first >= headRows) return canReadTail ? { end: tail, count: fromTail } : undefined;
    return canReadTail && !isSplit && fromTail < fromHead
      ? { end: tail, count: fromTail }
      : { end: head, count: fromHead };
  }

  add(end: ListEnd, { books, next }: Pick<BookPage, 'books' | 'next'>): void {
    for (const book of books) end.books.push(book);
    end.next = next;
    end.isComplete = next === undefined;
  }

  replace(changed: ReadonlyMap<number, Book>): void {
    for (const { books } of [this.head, this.tail]) {
      for (const [index, { id }] of books.entries()) {
        const book = changed.get(id);
        if (book) books[index] = book;
      }
    }
  }

  /** Removes books. @returns a function that restores them in their places; undefined when none is loaded */
  remove(ids: ReadonlySet<number>): (() => void) | undefined {
    const places = [this.head, this.tail].flatMap(({ books }) => {
      const removed = [...books.entries()].filter(([, { id }]) => ids.has(id));
      if (removed.length > 0)
        replaceAll(
          books,
          books.filter(({ id }) => !ids.has(id)),
        );
      return removed.length > 0 ? [{ books, removed }] : [];
    });
    if (places.length === 0) return undefined;
    return () => {
      for (const { books, removed } of places) replaceAll(books, insertAt(books, removed));
    };
  }
}

function replaceAll(books: Book[], others: readonly Book[]): void {
  books.length = 0;
  for (const book of others) books.push(book);
}

/** @param added the books to insert, with their indexes in the result, ascending */
function insertAt(books: readonly Book[], added: readonly (readonly [number, Book])[]): Book[] {
  const all: Book[] = [];
  let next = 0;
  for (const [index, book] of added) {
    while (all.length < index && next < books.length) all.push(books[next++] as Book);
    all.push(book);
  }
  return all.concat(books.slice(next));
}
