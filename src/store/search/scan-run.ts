import type { BookCount, BookPosition, BookQuery } from '../../book/book-store-interface.ts';
import type { ScannedBooks, SearchEngine } from './engine-interface.ts';
import { isMatch, type Needles } from './folding.ts';
import { callDeadline, PageBuilder } from './page-builder.ts';

/** One call of a search without the index: the books are read in the order of the query, and their texts folded and compared here. */
export class ScanRun {
  readonly #query: BookQuery;
  readonly #needles: Needles | undefined;
  readonly #engine: SearchEngine;

  constructor(query: BookQuery, needles: Needles | undefined, engine: SearchEngine) {
    this.#query = query;
    this.#needles = needles;
    this.#engine = engine;
  }

  async find(limit: number, after: BookPosition | undefined): Promise<PageBuilder> {
    const page = new PageBuilder(limit, after);
    for (;;) {
      const { matches, last, isEnd } = await this.#next(this.#query, page.last, page.limit + 1);
      if (!page.addAll(matches)) return page;
      if (isEnd || !last) {
        page.end();
        return page;
      }
      if (!page.skipTo(last)) return page;
    }
  }

  async count(after: BookPosition | undefined): Promise<BookCount> {
    if (!this.#needles) return { count: await this.#engine.countBooks(this.#query), last: undefined };
    const byId: BookQuery = { ...this.#query, sort: 'id', isDescending: false };
    const deadline = callDeadline();
    let count = 0;
    for (let position = after; ; ) {
      const { matches, last, isEnd } = await this.#next(byId, position);
      count += matches.length;
      if (isEnd) return { count, last: undefined };
      position = last;
      if (performance.now() > deadline) return { count, last };
    }
  }

  /** Compares the next books. @param limit the most of them, where all match */
  async #next(query: BookQuery, after: BookPosition | undefined, limit?: number): Promise<Compared> {
    const hasTexts = this.#needles !== undefined;
    const { books, isEnd } = await this.#engine.nextBooks(query, after, {
      limit: hasTexts ? undefined : limit,
      hasTexts,
    });
    const matches = hasTexts
      ? books.filter(({ title = '', author = '' }) => isMatch(this.#needles, title, author))
      : books;
    return { matches, last: books.at(-1), isEnd };
  }
}

interface Compared {
  readonly matches: ScannedBooks['books'];
  readonly last: BookPosition | undefined;
  readonly isEnd: boolean;
}
