import type { Book, BookPage } from 'bookkeeping-client/index.ts';

/** Consecutive books of a list. */
interface LoadedPage {
  /** The row of the first book. */
  readonly start: number;
  readonly books: readonly Book[];
  /** The cursor of the next books; undefined at the end of the list. */
  readonly next: string | undefined;
}

/** Rows to load: those that follow a cursor or, without one, those from `start`. */
export interface MissingRows {
  readonly start: number;
  readonly after: string | undefined;
  readonly limit: number;
}

/** More than the rows of any window. */
const PAGE_BOOKS = 300;
/** If at most this many rows before the missing ones are not loaded either, the list is read on from its last page. */
const READ_ON_ROWS = 200;
/** The rows loaded above those to which the user jumps. */
const MARGIN_ROWS = 60;
/** The books that are read twice where pages meet, since the list may have changed in between. */
const OVERLAP_BOOKS = 20;
/** The most loaded books; they take about 10 MB. */
const BOOKS_MAX = 20_000;

/** The loaded books of a list of any length. */
export class LoadedPages {
  /** In the order of their rows; they do not overlap. */
  pages: readonly LoadedPage[] = [];

  /** The row after the last loaded one. */
  get end(): number {
    return this.pages.reduce((end, page) => Math.max(end, endOf(page)), 0);
  }

  /** Whether the last book of the list is loaded. */
  get isAtEnd(): boolean {
    return this.pages.length > 0 && this.pages.at(-1)?.next === undefined;
  }

  /** Whether all books of the list are loaded. */
  get isWhole(): boolean {
    return this.isAtEnd && this.count === this.end;
  }

  get count(): number {
    return this.pages.reduce((count, { books }) => count + books.length, 0);
  }

  books(): Book[] {
    return this.pages.flatMap(({ books }) => books);
  }

  byId(): ReadonlyMap<number, Book> {
    return new Map(this.books().map((book) => [book.id, book]));
  }

  at(row: number): Book | undefined {
    const page = this.pages.find((each) => row < endOf(each));
    return page?.books[row - page.start];
  }

  /** The row of a book; undefined when it is not loaded. */
  rowOf(id: number): number | undefined {
    for (const { start, books } of this.pages) {
      const index = books.findIndex((book) => book.id === id);
      if (index >= 0) return start + index;
    }
    return undefined;
  }

  /** The first of the rows from `start` to before `end` to load; undefined when all are loaded. */
  missing(start: number, end: number): MissingRows | undefined {
    let row = start;
    for (const page of this.pages) if (page.start <= row) row = Math.max(row, endOf(page));
    if (row >= end) return undefined;
    const previous = this.pages.findLast((page) => page.start <= row);
    const next = this.pages.find((page) => page.start > row)?.start ?? Number.POSITIVE_INFINITY;
    const from = previous ? endOf(previous) : 0;
    const limitFrom = (first: number) => Math.min(PAGE_BOOKS, next + OVERLAP_BOOKS - first);
    if (previous && row - from <= READ_ON_ROWS) {
      const { next: after } = previous;
      return after === undefined ? undefined : { start: from, after, limit: limitFrom(from) };
    }
    const first = next < end ? next + OVERLAP_BOOKS - PAGE_BOOKS : row - MARGIN_ROWS;
    const jump = Math.max(first, from);
    return { start: jump, after: undefined, limit: limitFrom(jump) };
  }

  /**
   * Adds books that were read from the row `start` or, with `after`, from that cursor. Later pages move to continue them;
   * those that do not, as the list has changed, are removed.
   */
  add(
    { start, after }: Pick<MissingRows, 'start' | 'after'>,
    { books, next }: Pick<BookPage, 'books' | 'next'>,
  ): void {
    const previous = after === undefined ? undefined : this.pages.find((page) => page.next === after);
    if (after !== undefined && !previous) return;
    const first = previous ? endOf(previous) : start;
    const end = first + books.length;
    const before = this.pages.filter((page) => endOf(page) <= first && page.start <= first);
    const others = this.pages.slice(before.length);
    const last = books.at(-1);
    const meeting = others.find((page) => page.books.some(({ id }) => id === last?.id));
    let later = others.every((page) => page.start > end) ? others : [];
    if (next === undefined) later = [];
    else if (meeting)
      later = continuing(
        end,
        meeting.start + 1 + meeting.books.findIndex(({ id }) => id === last?.id),
        others,
      );
    // Nothing is known about the rows before an empty page that was read from a row.
    const isKnown = books.length > 0 || next !== undefined || first === 0 || previous;
    this.pages = [...before, ...(isKnown ? [{ start: first, books, next }] : []), ...later];
    this.#limit(first);
  }

  /** Changes books, and removes those that are undefined. @returns the rows of the books that are loaded */
  change(changes: ReadonlyMap<number, Book | undefined>): ReadonlyMap<number, number> {
    const rows = new Map<number, number>();
    let removed = 0;
    const pages = this.pages.map(({ start, books, next }) => {
      const first = start - removed;
      const changed: Book[] = [];
      for (const book of books) {
        const isChanged = changes.has(book.id);
        if (isChanged) rows.set(book.id, first + changed.length);
        const current = isChanged ? changes.get(book.id) : book;
        if (current) changed.push(current);
        else removed++;
      }
      return { start: first, books: changed, next };
    });
    if (rows.size > 0) this.pages = pages;
    return rows;
  }

  /** Removes books. @returns the rows of those that are loaded */
  remove(ids: Iterable<number>): ReadonlyMap<number, number> {
    return this.change(new Map([...ids].map((id) => [id, undefined])));
  }

  /** Adds a book at the end of the list, which is loaded. */
  append(book: Book): void {
    this.pages = this.pages.map((page, index) =>
      index === this.pages.length - 1 ? { ...page, books: [...page.books, book] } : page,
    );
  }

  /** Removes the pages that are farthest from a row. */
  #limit(row: number): void {
    let { count } = this;
    while (count > BOOKS_MAX) {
      const [first, last] = [this.pages[0], this.pages.at(-1)];
      if (!first || !last) return;
      const isFirstFarther = row - first.start > last.start - row;
      this.pages = isFirstFarther ? this.pages.slice(1) : this.pages.slice(0, -1);
      count -= (isFirstFarther ? first : last).books.length;
    }
  }
}

function endOf({ start, books }: LoadedPage): number {
  return start + books.length;
}

/** The pages after the row `from`, moved to begin at `to`. */
function continuing(to: number, from: number, pages: readonly LoadedPage[]): LoadedPage[] {
  return pages
    .filter((page) => endOf(page) > from)
    .map(({ start, books, next }) => ({
      start: Math.max(start, from) + to - from,
      books: books.slice(Math.max(0, from - start)),
      next,
    }));
}
