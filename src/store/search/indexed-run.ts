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
  where,
} from './conditions.ts';
import type {
  ComparedMatches,
  IndexDialect,
  Match,
  Row,
  SearchEngine,
  TextSize,
} from './engine-interface.ts';
import type { Needles } from './folding.ts';
import { PageBuilder, sumCounts } from './page-builder.ts';
import type { UnselectivePaths } from './unselective-paths.ts';

/** One call of a search by the index: sorts the candidates of an access path if they are few, else scans in order. */
export class IndexedRun {
  readonly #query: BookQuery;
  readonly #needles: Needles | undefined;
  readonly #dialect: IndexDialect;
  readonly #unselective: UnselectivePaths;

  constructor(
    query: BookQuery,
    needles: Needles | undefined,
    engine: SearchEngine,
    unselective: UnselectivePaths,
  ) {
    this.#query = query;
    this.#needles = needles;
    this.#unselective = unselective;
    this.#dialect = engine.indexDialect(query, needles);
  }

  async find(limit: number, position: BookPosition | undefined): Promise<PageBuilder> {
    const after = position?.sorting ? position.sorting.after : position;
    const page = new PageBuilder(limit, after, this.#query.skip);
    const matches = await this.#sortCandidates(after, page.selectedNext);
    if (!matches) await this.#walk(page);
    else if (page.addAll(matches)) page.end();
    return page;
  }

  async count(after: BookPosition | undefined): Promise<BookCount> {
    const total = after ? undefined : await this.#countAll();
    if (total !== undefined) return { count: total, last: undefined };
    return sumCounts(after, (position) => this.#dialect.countAfter(position, this.#match));
  }

  async #countAll(): Promise<number | undefined> {
    if (this.#needles) return (await this.#dialect.countWords?.()) ?? (await this.#countCandidates());
    return this.#countIn(() => 'true');
  }

  async #countIn(range: Condition): Promise<number> {
    const parameters = new Parameters(this.#dialect.parameterSign);
    const condition = where(range(parameters), fieldCondition(this.#query, parameters));
    const [row] = await this.#dialect.rows(
      `select count(*) as count from book_search ${condition}`,
      parameters,
    );
    return Number(row?.count);
  }

  /** The number of matches, by the first access path with few enough candidates to compare all of them. */
  async #countCandidates(): Promise<number | undefined> {
    const { accessPaths, parameterSign, countedMax } = this.#dialect;
    for (const path of accessPaths) {
      const parameters = new Parameters(parameterSign);
      const candidates = this.#dialect.candidatesOf(path, parameters, countedMax.books + 1);
      const match = `case when total <= ${countedMax.bytes} then ${this.#match(parameters)} else false end`;
      const [row] = await this.#dialect.rows(
        `select count(*) as books, max(total) as total, ${this.#dialect.countColumns(match)}
         from (
           select *, sum(${COMPARED_BYTES_SQL}) over (rows unbounded preceding) as total from ${candidates}
         ) as compared`,
        parameters,
      );
      if (isSmall(row, countedMax)) return this.#dialect.countOf(row);
    }
    return undefined;
  }

  /** The first matches, by the first access path with few enough candidates to compare and sort all of them. */
  async #sortCandidates(
    after: BookPosition | undefined,
    limit: number,
  ): Promise<readonly Match[] | undefined> {
    const { accessPaths, parameterSign, sortedMax, keptColumns, keptBooks } = this.#dialect;
    for (const path of accessPaths) {
      const parameters = new Parameters(parameterSign);
      const candidates = this.#dialect.candidatesOf(path, parameters, sortedMax.books + 1);
      const key = `${candidates} ${JSON.stringify(parameters.values)}`;
      if (this.#unselective.has(key)) continue;
      const match = `${afterCondition(this.#query, after)(parameters)} and ${this.#match(parameters)}`;
      const order = orderOf(this.#query);
      const rows = await this.#dialect.rows(
        `with candidates as materialized (
           select ${keptColumns}, ${COMPARED_BYTES_SQL} as compared from ${candidates}
         ), size as materialized (select count(*) as books, sum(compared) as total from candidates)
         select books, total, matches.* from size left join (
           select ${matchColumns(this.#query)} from ${keptBooks}
           where case when (
             select books <= ${sortedMax.books} and total <= ${sortedMax.bytes} from size
           ) then ${match} else false end
           order by ${order} limit ${this.#dialect.rowsFor(limit)}
         ) as matches on true
         order by key ${this.#query.isDescending ? 'desc' : 'asc'}, id`,
        parameters,
      );
      if (isSmall(rows[0], sortedMax)) {
        const matches = rows.filter(({ id }) => id !== null) as unknown as Match[];
        return this.#dialect.confirm(matches, limit);
      }
      this.#unselective.add(key);
    }
    return undefined;
  }

  readonly #match: Condition = (parameters) =>
    `${fieldCondition(this.#query, parameters)} and ${this.#dialect.textCondition(parameters)}`;

  async #walk(page: PageBuilder): Promise<void> {
    const isComparing = this.#needles !== undefined || comparesFields(this.#query);
    let ranges = rangesAfter(this.#query, page.last);
    for (let range = ranges.shift(); range; range = ranges.shift()) {
      const { matches, end } = isComparing
        ? await this.#dialect.compareIn(range, this.#match, page.selectedNext)
        : await this.#readIn(range, page);
      if (!page.addAll(matches)) return;
      if (!end) continue;
      if (!page.skipTo(end)) return;
      ranges = rangesAfter(this.#query, end);
    }
    page.end();
  }

  /** Skips or reads the first books of a range, all of which match but for their key. */
  async #readIn(range: Condition, page: PageBuilder): Promise<ComparedMatches> {
    const match: Condition = (parameters) =>
      `${range(parameters)} and ${fieldCondition(this.#query, parameters)}`;
    if (page.skip > 0) {
      const number = page.skippedNext;
      const end = await this.#dialect.positionAt(match, number);
      page.skip -= end ? number : Math.min(number, await this.#countIn(range));
      return { matches: [], end };
    }
    const parameters = new Parameters(this.#dialect.parameterSign);
    const limit = page.limit + 1;
    const books = this.#dialect.firstBooks(match(parameters), limit);
    const rows = await this.#dialect.rows(
      `select ${matchColumns(this.#query)} from ${books} order by ${orderOf(this.#query)} limit ${limit}`,
      parameters,
    );
    return { matches: rows as unknown as Match[], end: undefined };
  }
}

function isSmall(row: Row | undefined, { books, bytes }: TextSize): boolean {
  return Number(row?.books) <= books && Number(row?.total) <= bytes;
}
