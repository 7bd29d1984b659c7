import type { BookCount, BookPosition, SearchQuery } from './book-search.ts';
import {
  afterCondition,
  comparesFields,
  fieldCondition,
  hasFieldCondition,
  keyColumnOf,
  matchColumns,
  orderOf,
  selectPosition,
  textCondition,
  twinCondition,
  where,
} from './conditions.ts';
import type { Needles } from './folding.ts';
import { PageBuilder, sumCounts } from './page-builder.ts';
import { type Condition, Parameters } from './parameters.ts';
import type { AccessPath, IndexedSnapshot, Match, Paths, Positions, Row } from './snapshot.ts';
import type { UnselectivePaths } from './unselective-paths.ts';

/** The most candidates that a statement sorts for a page, unless the store is large. */
const SORTED_MAX = 5_000;
/** The most books that a statement compares in order, for a page or a count. */
const COMPARED_MAX = 5_000;
/** The books of which a statement reads the keys of twins from an index, to compare those with equal ones. */
const TWIN_KEYS_MAX = 20_000;

/** Up to so many books it takes less to read them in their order than to find the last one by its number. */
export const READ_MAX = 20_000;

/**
 * One call of a search by the index. It finds a page in one of four ways:
 *
 * - If an access path has few candidates, it sorts those that match.
 * - Of twins, it reads the keys of the next books, and compares the books whose keys others have.
 * - Else it compares the next books in the order of the query, or the next candidates of a path that has them in this order.
 * - If there is nothing to compare, as all books match, it reads the page.
 */
export class IndexedRun {
  readonly #query: SearchQuery;
  readonly #needles: Needles | undefined;
  readonly #snapshot: IndexedSnapshot;
  readonly #unselective: UnselectivePaths;
  #knownPaths: Paths | undefined;
  readonly #match: Condition;

  constructor(
    query: SearchQuery,
    needles: Needles | undefined,
    snapshot: IndexedSnapshot,
    unselective: UnselectivePaths,
  ) {
    this.#query = query;
    this.#needles = needles;
    this.#snapshot = snapshot;
    this.#unselective = unselective;
    this.#match = (parameters) =>
      `${fieldCondition(query, parameters)} and ${textCondition(needles, snapshot.dialect, parameters)}
       and ${twinCondition(query, 'found')}`;
  }

  async find(limit: number, after: BookPosition | undefined): Promise<PageBuilder> {
    const page = new PageBuilder(limit, after, this.#query);
    const matches = await this.#sortCandidates(page);
    if (matches) page.addLast(matches);
    else if (this.#query.sort === 'twins') await this.#walk(page, () => this.#nextTwins(page));
    else if (this.#needles || comparesFields(this.#query))
      await this.#walk(page, () => this.#nextCompared(page));
    else await this.#readAll(page);
    return page;
  }

  async count(after: BookPosition | undefined): Promise<BookCount> {
    const total = after ? undefined : await this.#countAll();
    if (total !== undefined) return { count: total, last: undefined };
    return sumCounts(after, (position) => this.#countAfter(position));
  }

  /** The first matches, by the first access path with few enough candidates to compare and sort all of them. */
  async #sortCandidates(page: PageBuilder): Promise<readonly Match[] | undefined> {
    const { candidates } = this.#snapshot.dialect;
    const order = orderOf(this.#query);
    const after = this.#after(page.last);
    for (const path of this.#paths.others) {
      const sortedMax = this.#sortedMax(page);
      const rows = await this.#selectCandidates(
        path,
        sortedMax,
        (selected, parameters) =>
          `with candidates as materialized (${selected}),
             size as materialized (select count(*) as books from candidates)
           select books, matches.* from size left join (
             select ${matchColumns(this.#query)} from ${candidates}
             where (select books from size) <= ${sortedMax} and ${after(parameters)} and ${this.#match(parameters)}
             order by ${order} limit ${page.selectedNext}
           ) as matches on true
           order by ${order.replace(keyColumnOf(this.#query), 'key')}`,
      );
      if (rows.length > 0) return rows.filter(({ id }) => id !== null) as unknown as Match[];
    }
    return undefined;
  }

  /** So many candidates take about as long to sort as it takes to find a page of them in the order of all books, if that is no scan. */
  #sortedMax({ selectedNext }: PageBuilder): number {
    const books = this.#query.sort === 'id' ? 0 : (this.#snapshot.lastId ?? 0);
    return Math.max(SORTED_MAX, Math.round(Math.sqrt(selectedNext * books)));
  }

  /** The number of matches, by the first access path with few enough candidates to compare all of them. */
  async #countCandidates(): Promise<number | undefined> {
    const { dialect } = this.#snapshot;
    const { candidates, countedMax } = dialect;
    for (const path of dialect.accessPaths(this.#query, this.#needles)) {
      const [row] = await this.#selectCandidates(
        path,
        countedMax,
        (selected, parameters) =>
          `with candidates as (${selected})
           select count(*) as books, count(*) filter (where ${this.#match(parameters)}) as count from ${candidates}`,
      );
      if (row) return Number(row.count);
    }
    return undefined;
  }

  /** @returns the rows of a statement, which have the number of its candidates; none when there were too many */
  async #selectCandidates(
    path: AccessPath,
    candidatesMax: number,
    statement: (selected: string, parameters: Parameters) => string,
  ): Promise<Row[]> {
    const parameters = new Parameters(this.#snapshot.dialect.parameterSign);
    const selected = `${path(parameters)} limit ${candidatesMax + 1}`;
    const key = `${selected} ${JSON.stringify(parameters.values)}`;
    if (this.#unselective.has(key)) return [];
    const rows = await this.#snapshot.rows(statement(selected, parameters), parameters);
    if (Number(rows[0]?.books) <= candidatesMax) return rows;
    this.#unselective.add(key);
    return [];
  }

  /** Of pages: what they need is estimated, which counts do without. */
  get #paths(): Paths {
    const [query, needles, { dialect }] = [this.#query, this.#needles, this.#snapshot];
    this.#knownPaths ??= (query.sort === 'id' ? dialect.pathsById?.(query, needles) : undefined) ?? {
      ordered: undefined,
      others: dialect.accessPaths(query, needles),
    };
    return this.#knownPaths;
  }

  /** Goes through the books in the order of the query, some of which match, until the page is full, no book follows or the time is over. */
  async #walk(page: PageBuilder, next: () => Promise<Passed>): Promise<void> {
    for (;;) {
      const { matches, end } = await next();
      if (!page.addAll(matches)) return;
      if (!end) return page.end();
      if (!page.skipTo(end)) return;
    }
  }

  async #nextTwins({ last, selectedNext }: PageBuilder): Promise<Passed> {
    const end = await this.#positionAt(last, TWIN_KEYS_MAX);
    const twins = this.#twinsIn(last, end);
    const matches = await this.#matches(
      (parameters) =>
        `select ${matchColumns(this.#query)} ${twins(parameters)} order by ${orderOf(this.#query)} limit ${selectedNext}`,
    );
    return { matches, end };
  }

  /** The matches from one position to another, which an index of their keys selects; all books with a key are compared. */
  #twinsIn(after: BookPosition | undefined, end: BookPosition | undefined): Condition {
    return (parameters) => {
      const from = after ? `twin_key >= ${parameters.add(after.key)}` : 'true';
      const to = end ? `twin_key <= ${parameters.add(end.key)}` : 'true';
      const until = end
        ? `(twin_key, id) <= (${parameters.add(end.key)}, ${parameters.add(end.id)})`
        : 'true';
      return `
        from book_search as found
        where twin_key in (
            -- Or PostgreSQL may group them again for each book.
            with repeated as materialized (
              select twin_key from book_search where ${from} and ${to} group by twin_key having count(*) > 1
            )
            select twin_key from repeated
          ) and ${this.#after(after)(parameters)} and ${until} and ${this.#match(parameters)}`;
    };
  }

  async #nextCompared({ last, selectedNext }: PageBuilder): Promise<Passed> {
    const matches = await this.#compare(last, selectedNext);
    return { matches, end: matches.length < selectedNext ? await this.#endOfCompared(last) : undefined };
  }

  /** The first matches among the next books, or among the next candidates. */
  #compare(after: BookPosition | undefined, limit: number): Promise<readonly Match[]> {
    const order = orderOf(this.#query);
    if (this.#paths.ordered) {
      const { candidates } = this.#snapshot.dialect;
      return this.#matches(
        (parameters) =>
          `with candidates as (${this.#candidatesAfter(after, parameters)} limit ${COMPARED_MAX})
           select ${matchColumns(this.#query)} from ${candidates}
           where ${this.#match(parameters)} order by ${order} limit ${limit}`,
      );
    }
    return this.#matches(
      (parameters) =>
        `select ${matchColumns(this.#query)} from (
           select * from book_search where ${this.#after(after)(parameters)} order by ${order} limit ${COMPARED_MAX}
         ) as found where ${this.#match(parameters)} order by ${order} limit ${limit}`,
    );
  }

  /** The position of the last book that {@link IndexedRun.#compare} compares; undefined when there are no more. */
  async #endOfCompared(after: BookPosition | undefined): Promise<BookPosition | undefined> {
    if (!this.#paths.ordered) return this.#positionAt(after, COMPARED_MAX);
    const [row] = await this.#rows(
      (parameters) =>
        `select id, id as key from (${this.#candidatesAfter(after, parameters)} limit 1 offset ${COMPARED_MAX - 1})`,
    );
    return row as BookPosition | undefined;
  }

  #candidatesAfter(after: BookPosition | undefined, parameters: Parameters): string {
    return `${this.#paths.ordered?.(parameters)} and ${this.#after(after)(parameters)} order by ${orderOf(this.#query)}`;
  }

  /** Skips books, and reads the page after them: all books match. */
  async #readAll(page: PageBuilder): Promise<void> {
    while (page.skip > 0) {
      const end = await this.#skip(page);
      if (!end) return page.end();
      if (!page.skipTo(end)) return;
    }
    page.addLast(await this.#read(page.last, page.selectedNext));
  }

  /** Skips books, all of which match. @returns the position of the last one; undefined at the end */
  async #skip(page: PageBuilder): Promise<BookPosition | undefined> {
    const number = this.#positions ? page.skip : page.skippedNext;
    const end = await this.#positionAt(page.last, number);
    page.skip -= end ? number : await this.#countBooks(page.last);
    return end;
  }

  /** The next books, all of which match. */
  #read(after: BookPosition | undefined, limit: number): Promise<readonly Match[]> {
    return this.#matches(
      (parameters) =>
        `select ${matchColumns(this.#query)} from ${this.#snapshot.books} where ${this.#after(after)(parameters)}
         order by ${orderOf(this.#query)} limit ${limit}`,
    );
  }

  async #countAll(): Promise<number | undefined> {
    if (this.#query.sort === 'twins') return this.#countCandidates();
    if (!this.#needles) return this.#countBooks(undefined);
    return (await this.#snapshot.countWords?.(this.#query, this.#needles)) ?? (await this.#countCandidates());
  }

  /** Counts matches among the next books, in ascending order of id, or among the next twins. */
  async #countAfter(after: BookPosition | undefined): Promise<BookCount> {
    if (this.#query.sort === 'twins') {
      const end = await this.#positionAt(after, TWIN_KEYS_MAX);
      const twins = this.#twinsIn(after, end);
      const [counted] = await this.#rows((parameters) => `select count(*) as count ${twins(parameters)}`);
      return { count: Number(counted?.count), last: end };
    }
    const byId: SearchQuery = { ...this.#query, sort: 'id', isDescending: false };
    const [row] = await this.#rows(
      (parameters) =>
        `select count(*) as compared, max(id) as last, count(*) filter (where ${this.#match(parameters)}) as count from (
           select * from book_search where ${afterCondition(byId, after)(parameters)} order by id limit ${COMPARED_MAX}
         ) as found`,
    );
    const last = Number(row?.last);
    const isEnd = Number(row?.compared) < COMPARED_MAX;
    return { count: Number(row?.count), last: isEnd ? undefined : { key: last, id: last } };
  }

  async #countBooks(after: BookPosition | undefined): Promise<number> {
    if (this.#positions) return this.#positions.countAfter(this.#query, after);
    const [row] = await this.#rows(
      (parameters) =>
        `select count(*) as count from ${this.#snapshot.books}
         ${where(afterCondition(this.#query, after)(parameters), fieldCondition(this.#query, parameters))}`,
    );
    return Number(row?.count);
  }

  /** The position of the `number`-th book after another; undefined when there are fewer. */
  async #positionAt(after: BookPosition | undefined, number: number): Promise<BookPosition | undefined> {
    if (number > READ_MAX && this.#positions) return this.#positions.find(this.#query, after, number);
    const [row] = await this.#rows((parameters) =>
      selectPosition(
        this.#query,
        this.#snapshot.books,
        this.#after(after)(parameters),
        parameters.add(number),
      ),
    );
    return row as BookPosition | undefined;
  }

  get #positions(): Positions | undefined {
    const isOfAll = this.#query.sort !== 'twins' && !hasFieldCondition(this.#query);
    return isOfAll ? this.#snapshot.positions : undefined;
  }

  /** The books after a position, in the range of the query if the index has them in the order of its key. */
  #after(position: BookPosition | undefined): Condition {
    const after = afterCondition(this.#query, position);
    if (this.#query.sort !== 'year') return after;
    return (parameters) => `${after(parameters)} and ${fieldCondition(this.#query, parameters)}`;
  }

  async #matches(sql: (parameters: Parameters) => string): Promise<readonly Match[]> {
    return (await this.#rows(sql)) as unknown as Match[];
  }

  #rows(sql: (parameters: Parameters) => string): Promise<Row[]> {
    const parameters = new Parameters(this.#snapshot.dialect.parameterSign);
    return this.#snapshot.rows(sql(parameters), parameters);
  }
}

/** A part of the books in the order of a query. */
interface Passed {
  /** Those that match. */
  readonly matches: readonly Match[];
  /** The position of its last book; undefined if no book follows, or the matches are as many as were requested. */
  readonly end: BookPosition | undefined;
}
