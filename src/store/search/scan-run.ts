import type { BookCount, BookPosition, BookQuery } from '../../book/book-store-interface.ts';
import type { SearchEngine } from './engine-interface.ts';
import { isMatch, type Needles } from './folding.ts';
import { PageBuilder, sumCounts } from './page-builder.ts';

/** One call of a search without the index: reads books in the order of the query, folds and compares their texts. */
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
      const { matches, last } = await this.#next(this.#query, page.last, page.limit + 1);
      if (!page.addAll(matches)) return page;
      if (!last) page.end();
      if (!last || !page.skipTo(last)) return page;
    }
  }

  async count(after: BookPosition | undefined): Promise<BookCount> {
    if (!this.#needles) return { count: await this.#engine.countBooks(this.#query), last: undefined };
    const byId: BookQuery = { ...this.#query, sort: 'id', isDescending: false };
    return sumCounts(after, async (position) => {
      const { matches, last } = await this.#next(byId, position);
      return { count: matches.length, last };
    });
  }

  /** Compares the next books. @returns `last` undefined if no book follows */
  async #next(query: BookQuery, after: BookPosition | undefined, limitWithoutTexts?: number) {
    const hasTexts = this.#needles !== undefined;
    const limit = hasTexts ? undefined : limitWithoutTexts;
    const { books, isEnd } = await this.#engine.nextBooks(query, after, { limit, hasTexts });
    const matches = books.filter(({ title = '', author = '' }) => isMatch(this.#needles, title, author));
    return { matches, last: isEnd ? undefined : books.at(-1) };
  }
}
