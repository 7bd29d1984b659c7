import type { BookCount, BookPosition, BookQuery, Sorting } from '../../book/book-store-interface.ts';
import { PAGE_BOOKS_MAX } from '../store-limits.ts';
import { afterCondition, fieldCondition, isText, Parameters, selectPosition, where } from './conditions.ts';
import type { Match, SearchEngine } from './engine-interface.ts';
import { compareSortKeys, isMatch, type Needles, sortKeyOf } from './folding.ts';
import { PageBuilder, sumCounts } from './page-builder.ts';

/** One call of a search without the index: reads books in the order of the query, folds and compares their texts. */
export class ScanRun {
  readonly #query: BookQuery;
  readonly #byId: BookQuery;
  readonly #needles: Needles | undefined;
  readonly #engine: SearchEngine;

  constructor(query: BookQuery, needles: Needles | undefined, engine: SearchEngine) {
    this.#query = query;
    this.#byId = { ...query, sort: 'id', isDescending: false };
    this.#needles = needles;
    this.#engine = engine;
  }

  async find(limit: number, after: BookPosition | undefined): Promise<PageBuilder> {
    if (isText(this.#query.sort)) return this.#sort(limit, after, this.#query.sort);
    const page = new PageBuilder(limit, after, this.#query.skip);
    for (;;) {
      const { matches, last } =
        page.skip > 0 && !this.#needles
          ? await this.#skip(page)
          : await this.#next(this.#query, page.last, page.selectedNext);
      if (!page.addAll(matches)) return page;
      if (!last) page.end();
      if (!last || !page.skipTo(last)) return page;
    }
  }

  async #skip(page: PageBuilder) {
    const number = page.skippedNext;
    const last = await this.#positionAt(page.last, number);
    page.skip -= last ? number : Math.min(number, await this.#countBooks(page.last));
    return { matches: [], last };
  }

  /** The position of the `number`-th book after another; undefined when there are fewer. */
  async #positionAt(after: BookPosition | undefined, number: number): Promise<BookPosition | undefined> {
    const parameters = new Parameters(this.#engine.parameterSign);
    const condition = `${afterCondition(this.#query, after)(parameters)} and ${fieldCondition(this.#query, parameters)}`;
    const books = this.#engine.allBooks(this.#query.sort);
    const sql = selectPosition(this.#query, books, condition, parameters.add(number));
    return (await this.#engine.rows(sql, parameters))[0] as BookPosition | undefined;
  }

  async #countBooks(after?: BookPosition): Promise<number> {
    const parameters = new Parameters(this.#engine.parameterSign);
    const condition = where(
      afterCondition(this.#query, after)(parameters),
      fieldCondition(this.#query, parameters),
    );
    const sql = `select count(*) as count from ${this.#engine.allBooks('id')} ${condition}`;
    const [row] = await this.#engine.rows(sql, parameters);
    return Number(row?.count);
  }

  async count(after: BookPosition | undefined): Promise<BookCount> {
    if (!this.#needles) return { count: await this.#countBooks(), last: undefined };
    return sumCounts(after, async (position) => {
      const { matches, last } = await this.#next(this.#byId, position);
      return { count: matches.length, last };
    });
  }

  /**
   * Engines cannot fold texts: reads all books by id, and keeps the first ones in the order of the query. To skip more than
   * a page, it reads all books again for each.
   */
  async #sort(
    limit: number,
    position: BookPosition | undefined,
    column: 'title' | 'author',
  ): Promise<PageBuilder> {
    const start: Sorting = position?.sorting ?? { after: position, first: [], lastId: undefined, count: 0 };
    const { after } = start;
    let { first, lastId, count } = start;
    const page = new PageBuilder(limit, after, this.#query.skip);
    const firstMax = Math.min(page.selectedNext, PAGE_BOOKS_MAX + 1);
    for (;;) {
      const read = lastId === undefined ? undefined : { key: lastId, id: lastId };
      const { matches, last } = await this.#next(this.#byId, read, undefined, true);
      const following = matches
        .map(({ id, bytes, [column]: text = '' }) => ({ key: sortKeyOf(text), id, bytes }))
        .filter((book) => !after || this.#compare(book, after) > 0);
      count += following.length;
      first = this.#firstOf(first, following, firstMax);
      if (!last) {
        if (page.skip >= count) page.skip -= count;
        else if (!page.addAll(first) || first.length === firstMax) return page;
        page.end();
        return page;
      }
      lastId = last.id;
      if (!page.skipTo({ ...last, sorting: { after, first, lastId, count } })) return page;
    }
  }

  #firstOf(first: readonly Match[], others: readonly Match[], count: number): readonly Match[] {
    const end = first.length < count ? undefined : first.at(-1);
    const added = others.filter((book) => !end || this.#compare(book, end) < 0);
    return added.length === 0 ? first : [...first, ...added].toSorted(this.#compare).slice(0, count);
  }

  readonly #compare = (one: BookPosition, other: BookPosition): number => {
    const order = compareSortKeys(String(one.key), String(other.key));
    return (this.#query.isDescending ? -order : order) || one.id - other.id;
  };

  /** Compares the next books. @returns `last` undefined if no book follows */
  async #next(
    query: BookQuery,
    after: BookPosition | undefined,
    limitWithoutTexts?: number,
    hasTexts = this.#needles !== undefined,
  ) {
    const limit = hasTexts ? undefined : limitWithoutTexts;
    const { books, isEnd } = await this.#engine.nextBooks(query, after, { limit, hasTexts });
    const matches = books.filter(({ title = '', author = '' }) => isMatch(this.#needles, title, author));
    return { matches, last: isEnd ? undefined : books.at(-1) };
  }
}
