import { StoreUnavailable } from '../book/book-store.ts';
import type { BookCount, BookPosition, BookQuery } from './book-search.ts';
import { afterCondition, fieldCondition, isText, selectPosition, where } from './conditions.ts';
import type { Match, Snapshot } from './engine.ts';
import { compareSortKeys, isMatch, type Needles, sortKeyOf } from './folding.ts';
import { PageBuilder, SEARCH_BOOKS_MAX, sumCounts } from './page-builder.ts';
import { Parameters } from './parameters.ts';

/** The most books that one call sorts by text, or on SQLite by year; a search that needs more is rejected. */
const SCAN_SORTED_MAX = 200_000;

/** The most books that a call keeps in memory. */
const KEPT_MAX = 2 * SEARCH_BOOKS_MAX + 1;

export const SELECT_TOO_MANY = `select 1 from books limit 1 offset ${SCAN_SORTED_MAX}`;

/** One call of a search without the index: reads books in the order of the query, folds and compares their texts. */
export class ScanRun {
  readonly #query: BookQuery;
  readonly #byId: BookQuery;
  readonly #needles: Needles | undefined;
  readonly #snapshot: Snapshot;

  constructor(query: BookQuery, needles: Needles | undefined, snapshot: Snapshot) {
    this.#query = query;
    this.#byId = { ...query, sort: 'id', isDescending: false };
    this.#needles = needles;
    this.#snapshot = snapshot;
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
    const parameters = new Parameters(this.#snapshot.dialect.parameterSign);
    const condition = `${afterCondition(this.#query, after)(parameters)} and ${fieldCondition(this.#query, parameters)}`;
    const { allBooks } = this.#snapshot.dialect;
    const sql = selectPosition(this.#query, allBooks, condition, parameters.add(number));
    return (await this.#snapshot.rows(sql, parameters))[0] as BookPosition | undefined;
  }

  async #countBooks(after?: BookPosition): Promise<number> {
    const parameters = new Parameters(this.#snapshot.dialect.parameterSign);
    const condition = where(
      afterCondition(this.#query, after)(parameters),
      fieldCondition(this.#query, parameters),
    );
    const sql = `select count(*) as count from ${this.#snapshot.dialect.allBooks} ${condition}`;
    const [row] = await this.#snapshot.rows(sql, parameters);
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
   * {@link KEPT_MAX}, it reads all books again for each.
   */
  async #sort(
    limit: number,
    after: BookPosition | undefined,
    column: 'title' | 'author',
  ): Promise<PageBuilder> {
    const page = new PageBuilder(limit, after, this.#query.skip);
    const needed = page.selectedNext;
    // A page that is skipped to in several calls is read by the last one.
    const firstMax = needed <= KEPT_MAX ? needed : Math.min(page.skip, KEPT_MAX);
    let first: readonly Match[] = [];
    let following = 0;
    let read: BookPosition | undefined;
    const tooMany = await this.#snapshot.rows(
      SELECT_TOO_MANY,
      new Parameters(this.#snapshot.dialect.parameterSign),
    );
    if (tooMany.length > 0) throw new StoreUnavailable('too many books to sort without the index');
    for (;;) {
      const { matches, last } = await this.#next(this.#byId, read, undefined, true);
      const next = matches
        .map(({ id, bytes, [column]: text = '' }) => ({ key: sortKeyOf(text), id, bytes }))
        .filter((book) => !after || this.#compare(book, after) > 0);
      following += next.length;
      first = this.#firstOf(first, next, firstMax);
      read = last;
      if (!last) break;
    }
    if (page.skip >= following) page.skip -= following;
    else if (!page.addAll(first) || first.length === firstMax) return page;
    page.end();
    return page;
  }

  #firstOf(first: readonly Match[], others: readonly Match[], count: number): readonly Match[] {
    const end = first.length < count ? undefined : first.at(-1);
    const added = others.filter((book) => !end || this.#compare(book, end) < 0);
    return added.length === 0 ? first : [...first, ...added].toSorted(this.#compare).slice(0, count);
  }

  readonly #compare = (one: BookPosition, other: BookPosition): number => {
    const order = compareSortKeys(String(one.key), String(other.key));
    return (order || one.id - other.id) * (this.#query.isDescending ? -1 : 1);
  };

  /** Compares the next books. @returns `last` undefined if no book follows */
  async #next(
    query: BookQuery,
    after: BookPosition | undefined,
    limitWithoutTexts?: number,
    hasTexts = this.#needles !== undefined,
  ) {
    const limit = hasTexts ? undefined : limitWithoutTexts;
    const { books, isEnd } = await this.#snapshot.nextBooks(query, after, { limit, hasTexts });
    const matches = books.filter(({ title = '', author = '' }) => isMatch(this.#needles, title, author));
    return { matches, last: isEnd ? undefined : books.at(-1) };
  }
}
