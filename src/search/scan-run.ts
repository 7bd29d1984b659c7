import { StoreUnavailable } from '../book/book-store.ts';
import type { BookCount, BookPosition, SearchQuery } from './book-search.ts';
import { compareSortKeys, isMatch, type Needles, sortKeyOf } from './folding.ts';
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

  constructor(query: SearchQuery, needles: Needles | undefined, read: ReadBooks) {
    this.#query = query;
    this.#needles = needles;
    this.#read = read;
  }

  async find(limit: number, after: BookPosition | undefined): Promise<PageBuilder> {
    const page = new PageBuilder(limit, after, this.#query);
    if (this.#query.sort !== 'id') return this.#sort(page, after);
    for (;;) {
      const { matches, last } = await this.#next(this.#query, page.last);
      if (!page.addAll(matches)) return page;
      if (!last) page.end();
      if (!last || !page.skipTo(last)) return page;
    }
  }

  count(after: BookPosition | undefined): Promise<BookCount> {
    const byId: SearchQuery = { ...this.#query, sort: 'id', isDescending: false };
    return sumCounts(after, async (position) => {
      const { matches, last } = await this.#next(byId, position);
      return { count: matches.length, last };
    });
  }

  /** Keeps the first books in the order of the query. To skip more than {@link KEPT_MAX}, all are read again for each. */
  async #sort(page: PageBuilder, after: BookPosition | undefined): Promise<PageBuilder> {
    const byId: SearchQuery = { ...this.#query, sort: 'id', isDescending: false };
    const needed = page.selectedNext;
    // A page that is skipped to in several calls is read by the last one.
    const firstMax = needed <= KEPT_MAX ? needed : Math.min(page.skip, KEPT_MAX);
    let first: Match[] = [];
    let following = 0;
    let scanned = 0;
    for (let read: BookPosition | undefined, isEnd = false; !isEnd; ) {
      const { matches, last, count } = await this.#next(byId, read);
      scanned += count;
      if (scanned > SORTED_MAX)
        throw new StoreUnavailable('too many books to sort', 'Without an index, too many books to sort');
      const next = matches.filter((book) => !after || this.#compare(book, after) > 0);
      following += next.length;
      first = [...first, ...next].toSorted(this.#compare).slice(0, firstMax);
      read = last;
      isEnd = last === undefined;
    }
    if (page.skip >= following) page.skip -= following;
    else if (!page.addAll(first) || following > first.length) return page;
    page.end();
    return page;
  }

  readonly #compare = (one: BookPosition, other: BookPosition): number => {
    const order =
      typeof one.key === 'string' ? compareSortKeys(one.key, String(other.key)) : one.key - Number(other.key);
    return (order || one.id - other.id) * (this.#query.isDescending ? -1 : 1);
  };

  /** Compares the next books by id. @returns `last` undefined if no book follows */
  async #next(query: SearchQuery, after: BookPosition | undefined) {
    const { books, isEnd } = await this.#read(query, after);
    const matching = books.filter(({ title, author }) => isMatch(this.#needles, title, author));
    const matches = matching.map((book) => ({ key: this.#keyOf(book), id: book.id, bytes: book.bytes }));
    const id = books.at(-1)?.id;
    const last = isEnd || id === undefined ? undefined : { key: id, id };
    return { matches, last, count: books.length };
  }

  #keyOf(book: ReadBook): string | number {
    const key = book[this.#query.sort];
    return typeof key === 'string' ? sortKeyOf(key) : key;
  }
}
