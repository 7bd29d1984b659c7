import { YEAR_MAX } from '../book/book.ts';
import { StoreUnavailable } from '../book/book-store.ts';
import type { BookCount, BookPosition, SearchQuery } from './book-search.ts';
import { compareSortKeys, isMatch, type Needles, sortKeyOf, twinKeyOf } from './folding.ts';
import { PageBuilder, SEARCH_BOOKS_MAX, sumCounts } from './page-builder.ts';
import type { Match, ReadBook, ReadBooks } from './snapshot.ts';

/** The most books among which one call sorts; it reads all of them. */
const SORTED_MAX = 200_000;
/** The most books that a call keeps in memory. */
const KEPT_MAX = 2 * SEARCH_BOOKS_MAX + 1;

/** One call of a search in a store that cannot have an index: reads books by id, and compares and sorts them here. */
export class ScanRun {
  readonly #query: SearchQuery;
  readonly #needles: Needles | undefined;
  readonly #read: ReadBooks;
  /** By the keys of twins, the years of the books with this key, and how many have each. */
  #twinYears: ReadonlyMap<number, ReadonlyMap<number, number>> | undefined;

  constructor(query: SearchQuery, needles: Needles | undefined, read: ReadBooks) {
    this.#query = query;
    this.#needles = needles;
    this.#read = read;
  }

  async find(limit: number, after: BookPosition | undefined): Promise<PageBuilder> {
    if (this.#query.sort === 'twins') await this.#readTwins();
    const page = new PageBuilder(limit, after, this.#query);
    if (this.#query.sort !== 'id') return this.#sort(page, after);
    for (;;) {
      const { matches, last } = await this.#next(this.#query, page.last);
      if (!page.addAll(matches)) return page;
      if (!last) page.end();
      if (!last || !page.skipTo(last)) return page;
    }
  }

  async count(after: BookPosition | undefined): Promise<BookCount> {
    if (this.#query.sort === 'twins') {
      await this.#readTwins();
      let count = 0;
      for await (const { matches } of this.#all()) count += matches.length;
      return { count, last: undefined };
    }
    const byId: SearchQuery = { ...this.#query, sort: 'id', isDescending: false };
    return sumCounts(after, async (position) => {
      const { matches, last } = await this.#next(byId, position);
      return { count: matches.length, last };
    });
  }

  /** Keeps the first books in the order of the query. To skip more than {@link KEPT_MAX}, all are read again for each. */
  async #sort(page: PageBuilder, after: BookPosition | undefined): Promise<PageBuilder> {
    const needed = page.selectedNext;
    // A page that is skipped to in several calls is read by the last one.
    const firstMax = needed <= KEPT_MAX ? needed : Math.min(page.skip, KEPT_MAX);
    let first: Match[] = [];
    let following = 0;
    for await (const { matches } of this.#all()) {
      const next = matches.filter((book) => !after || this.#compare(book, after) > 0);
      following += next.length;
      first = [...first, ...next].toSorted(this.#compare).slice(0, firstMax);
    }
    if (page.skip >= following) page.skip -= following;
    else if (!page.addAll(first) || following > first.length) return page;
    page.end();
    return page;
  }

  /** Records the years of all books, whether or not they match. */
  async #readTwins(): Promise<void> {
    const years = new Map<number, Map<number, number>>();
    const all: SearchQuery = { sort: 'id', isDescending: false, yearFrom: -YEAR_MAX, yearTo: YEAR_MAX };
    for await (const { books } of this.#all(all))
      for (const book of books) {
        const key = twinKeyOf(book);
        const known = years.getOrInsertComputed(key, () => new Map());
        known.set(book.year, (known.get(book.year) ?? 0) + 1);
      }
    this.#twinYears = years;
  }

  #hasTwin(book: ReadBook): boolean {
    const years = this.#twinYears?.get(twinKeyOf(book));
    const { year } = book;
    const near = year === 0 ? (years?.keys() ?? []) : new Set([year - 1, year, year + 1, 0]);
    // One of them is the book itself.
    let count = 0;
    for (const one of near) {
      count += years?.get(one) ?? 0;
      if (count > 1) return true;
    }
    return false;
  }

  /** Reads all books in ascending order of id. @throws StoreUnavailable when they are too many to sort */
  async *#all(query = this.#query) {
    const byId: SearchQuery = { ...query, sort: 'id', isDescending: false };
    let scanned = 0;
    for (let read: BookPosition | undefined, isEnd = false; !isEnd; ) {
      const next = await this.#next(byId, read);
      scanned += next.books.length;
      if (scanned > SORTED_MAX)
        throw new StoreUnavailable('too many books to sort', 'Without an index, too many books to sort');
      yield next;
      read = next.last;
      isEnd = read === undefined;
    }
  }

  readonly #compare = (one: BookPosition, other: BookPosition): number => {
    const order =
      typeof one.key === 'string' ? compareSortKeys(one.key, String(other.key)) : one.key - Number(other.key);
    return (order || one.id - other.id) * (this.#query.isDescending ? -1 : 1);
  };

  /** Compares the next books by id. @returns `last` undefined if no book follows */
  async #next(query: SearchQuery, after: BookPosition | undefined) {
    const { books, isEnd } = await this.#read(query, after);
    const matching = books.filter(
      (book) => isMatch(this.#needles, book.title, book.author) && (!this.#twinYears || this.#hasTwin(book)),
    );
    const matches = matching.map((book) => ({ key: this.#keyOf(book), id: book.id, bytes: book.bytes }));
    const id = books.at(-1)?.id;
    const last = isEnd || id === undefined ? undefined : { key: id, id };
    return { matches, last, books };
  }

  #keyOf(book: ReadBook): string | number {
    if (this.#query.sort === 'twins') return twinKeyOf(book);
    const key = book[this.#query.sort];
    return typeof key === 'string' ? sortKeyOf(key) : key;
  }
}
