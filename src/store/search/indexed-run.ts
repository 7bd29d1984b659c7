import type { BookCount, BookPosition, BookQuery } from '../../book/book-store-interface.ts';
import {
  afterCondition,
  COMPARED_BYTES_SQL,
  type Condition,
  comparesFields,
  fieldCondition,
  matchColumns,
  orderOf,
  Parameters,
  rangesAfter,
} from './conditions.ts';
import type { AccessPath, IndexDialect, Match, SearchEngine } from './engine-interface.ts';
import type { Needles } from './folding.ts';
import { PageBuilder, sumCounts } from './page-builder.ts';

/** One call of a search by the index: sorts the candidates of an access path if they are few, else scans in order. */
export class IndexedRun {
  readonly #query: BookQuery;
  readonly #needles: Needles | undefined;
  readonly #dialect: IndexDialect;

  constructor(query: BookQuery, needles: Needles | undefined, engine: SearchEngine) {
    this.#query = query;
    this.#needles = needles;
    this.#dialect = engine.indexDialect(query, needles);
  }

  async find(limit: number, position: BookPosition | undefined): Promise<PageBuilder> {
    const after = position?.sorting ? position.sorting.after : position;
    const page = new PageBuilder(limit, after);
    const path = await this.#selectivePath();
    if (!path) await this.#walk(page);
    else if (page.addAll(await this.#matchesOn(path, after, page.limit + 1))) page.end();
    return page;
  }

  async count(after: BookPosition | undefined): Promise<BookCount> {
    const total = after ? undefined : await this.#countAll();
    if (total !== undefined) return { count: total, last: undefined };
    return sumCounts(after, (position) => this.#dialect.countAfter(position, this.#match));
  }

  async #countAll(): Promise<number | undefined> {
    const path = await this.#selectivePath();
    if (!path && this.#needles) return this.#dialect.countByIndex(this.#match);
    const parameters = new Parameters(this.#dialect.parameterSign);
    const books = path ? this.#dialect.candidatesOf(path, parameters) : 'book_search';
    return this.#dialect.count(`${books} where ${this.#match(parameters)}`, parameters);
  }

  /** The first access path that selects few enough books to compare and sort all of them. */
  async #selectivePath(): Promise<AccessPath | undefined> {
    const { accessPaths, parameterSign, candidatesMax, candidateBytesMax } = this.#dialect;
    for (const path of accessPaths) {
      const parameters = new Parameters(parameterSign);
      const candidates = this.#dialect.candidatesOf(path, parameters, candidatesMax + 1);
      const [row] = await this.#dialect.rows(
        `select count(*) as count, sum(${COMPARED_BYTES_SQL}) as bytes from ${candidates}`,
        parameters,
      );
      if (Number(row?.count) <= candidatesMax && Number(row?.bytes) <= candidateBytesMax) return path;
    }
    return undefined;
  }

  #matchesOn(path: AccessPath, after: BookPosition | undefined, limit: number): Promise<readonly Match[]> {
    const isAfter = afterCondition(this.#query, after);
    return this.#select(limit, (parameters) => {
      const candidates = this.#dialect.candidatesOf(path, parameters);
      return `${candidates} where ${isAfter(parameters)} and ${this.#match(parameters)}`;
    });
  }

  #select(limit: number, from: Condition): Promise<readonly Match[]> {
    const parameters = new Parameters(this.#dialect.parameterSign);
    const sql = `select ${matchColumns(this.#query)} from ${from(parameters)} order by ${orderOf(this.#query)}`;
    return this.#dialect.matches(sql, parameters, limit);
  }

  readonly #match: Condition = (parameters) =>
    `${fieldCondition(this.#query, parameters)} and ${this.#dialect.textCondition(parameters)}`;

  async #walk(page: PageBuilder): Promise<void> {
    const isComparing = this.#needles !== undefined || comparesFields(this.#query);
    let ranges = rangesAfter(this.#query, page.last);
    for (let range = ranges.shift(); range; range = ranges.shift()) {
      const { matches, end } = isComparing
        ? await this.#dialect.compareIn(range, this.#match, page.limit + 1)
        : { matches: await this.#booksIn(range, page.limit + 1), end: undefined };
      if (!page.addAll(matches)) return;
      if (!end) continue;
      if (!page.skipTo(end)) return;
      ranges = rangesAfter(this.#query, end);
    }
    page.end();
  }

  #booksIn(range: Condition, limit: number): Promise<readonly Match[]> {
    const isWithin: Condition = (parameters) =>
      `${range(parameters)} and ${fieldCondition(this.#query, parameters)}`;
    return this.#select(limit, (parameters) => this.#dialect.firstBooks(isWithin(parameters), limit));
  }
}
