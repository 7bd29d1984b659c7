import type { Book, BookPage } from '../../../src/client/index.ts';

/** The books loaded from one end of a list, in order from that end. */
export interface ListEnd {
  readonly books: Book[];
  /** The cursor of the next page; undefined before the first page. */
  next: string | undefined;
  isComplete: boolean;
}

/** How many of the first and of the last books are shown, and how many there are. */
export interface ShownPart {
  readonly first: number;
  readonly last: number;
  readonly count: number;
}

/** The books of a list, loaded from both ends. Of a list that is too long to show, the first and the last half are. */
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

  /** How many rows show the first books of a list of `total`; others show the last ones. */
  headRows(total = 0): number {
    return this.#canReadTail && total > this.#rowsMax ? this.#rowsMax / 2 : this.#rowsMax;
  }

  /** The shown part of a list of `count` books; undefined when all are shown. */
  shownPart(count = 0): ShownPart | undefined {
    const first = this.headRows(count);
    return count > this.#rowsMax ? { first, last: this.#rowsMax - first, count } : undefined;
  }

  /** The book of a row; undefined when it is not loaded. @param total how many books there are, if known */
  at(row: number, total?: number): Book | undefined {
    const isSplit = this.headRows(total) < this.#rowsMax;
    const isOfHead = row < this.headRows(total);
    if (isOfHead && (isSplit || row < this.head.books.length)) return this.head.books[row];
    return total === undefined ? undefined : this.tail.books[Math.min(total, this.#rowsMax) - 1 - row];
  }

  /** What to load next for the rows from `start` to before `end`; undefined when they are loaded. */
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

  replace(book: Book): void {
    for (const { books } of [this.head, this.tail]) {
      const index = books.findIndex(({ id }) => id === book.id);
      if (index !== -1) books[index] = book;
    }
  }

  /** Removes a book. @returns puts it back in its place; undefined when it is not loaded */
  takeOut(id: number): (() => void) | undefined {
    const places = [this.head, this.tail].flatMap(({ books }) => {
      const index = books.findIndex((book) => book.id === id);
      return index === -1 ? [] : [{ books, index, taken: books.splice(index, 1) }];
    });
    if (places.length === 0) return undefined;
    return () => {
      for (const { books, index, taken } of places) books.splice(index, 0, ...taken);
    };
  }
}
