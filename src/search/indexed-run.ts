import { ID_MAX } from '../book/book.ts';
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
import type {
  AccessPath,
  IdBounds,
  IndexedSnapshot,
  Match,
  Paths,
  Positions,
  RangedPath,
  Row,
} from './snapshot.ts';
import type { UnselectivePaths } from './unselective-paths.ts';

/** The most candidates that a statement sorts for a page, unless the store is large. */
const SORTED_MAX = 5_000;
/** The most books that a statement compares in order, for a page or a count. */
export const COMPARED_MAX = 5_000;
/** If more of those books match, it takes less time to count without an index. */
const COMMON_MIN = COMPARED_MAX / 2;
/** The books of which a statement reads the keys of twins from an index, to compare those with equal ones. */
const TWIN_KEYS_MAX = 20_000;

/** A statement compares the candidates of at most so many times as many ranges of ids as the one before. */
const RANGES_GROWTH = 8;
/** The candidates of ranges that a statement is to compare at most, by those of the statement before. */
const RANGES_CANDIDATES = 20_000;
/** If several ranges have more, since the ranges before had few, the next statement reads one of them. */
const RANGES_CANDIDATES_MAX = 2 * RANGES_CANDIDATES;

/** Up to so many books it takes less to read them in their order than to find the last one by its number. */
export const READ_MAX = 20_000;

/**
 * One call of a search by the index. It finds a page in one of four ways:
 *
 * - If an access path has few candidates, it sorts those that match.
 * - Of twins, it reads the keys of the next books, and compares the books whose keys others have.
 * - Else it compares the next books in the order of the query, or the next candidates of a path that has them in this order or in ranges
 *   of ids.
 * - If there is nothing to compare, as all books match, it reads the page.
 */
export class IndexedRun {
  readonly #query: SearchQuery;
  readonly #needles: Needles | undefined;
  readonly #snapshot: IndexedSnapshot;
  readonly #unselective: UnselectivePaths;
  /** Of pages: what they need is estimated, which counts do without. */
  #paths: Paths = { others: [] };
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
    const [query, needles, { dialect }] = [this.#query, this.#needles, this.#snapshot];
    const byId = query.sort === 'id' ? await dialect.pathsById?.(query, needles) : undefined;
    this.#paths = byId ?? { others: dialect.accessPaths(query, needles) };
    const matches = await this.#sortCandidates(page);
    if (matches) page.addLast(matches);
    else if (this.#query.sort === 'twins') await this.#walk(page, () => this.#nextTwins(page));
    else if (this.#paths.ranges) await this.#walk(page, this.#nextInRanges(page, this.#paths.ranges));
    else if (this.#needles || comparesFields(this.#query))
      await this.#walk(page, () => this.#nextCompared(page));
    else await this.#readAll(page);
    return page;
  }

  async count(after: BookPosition | undefined): Promise<BookCount> {
    const [query, needles, { dialect }] = [this.#query, this.#needles, this.#snapshot];
    const isOfTwins = query.sort === 'twins';
    let total = after || isOfTwins ? undefined : await this.#countByIndex();
    if (total !== undefined) return { count: total, last: undefined };
    const byId = isOfTwins ? undefined : await dialect.pathsById?.(query, needles);
    const paths = byId?.ranges ? byId.others : dialect.accessPaths(query, needles);
    total = after ? undefined : await this.#countCandidates(paths);
    if (total !== undefined) return { count: total, last: undefined };
    return sumCounts(
      after,
      byId?.ranges ? this.#countingRanges(byId.ranges) : (position) => this.#countAfter(position),
    );
  }

  /** The first matches, by the first access path with few enough candidates to compare and sort all of them. */
  async #sortCandidates(page: PageBuilder): Promise<readonly Match[] | undefined> {
    if (this.#paths.others.length === 0) return undefined;
    const after = this.#after(page.last);
    const sortedMaxOfScan = this.#sortedMax(page);
    for (const path of this.#paths.others) {
      // A scan takes less if the index of each order has what the path selects by.
      const sortedMax = path.ids ? SORTED_MAX : sortedMaxOfScan;
      const rows = await this.#selectCandidates(path, sortedMax, (selected, parameters) =>
        this.#selectMatches(
          selected,
          parameters,
          page.skip,
          page.limit + 1,
          `(select books from size) <= ${sortedMax} and ${after(parameters)}`,
        ),
      );
      const [row] = rows;
      if (!row) continue;
      page.skip -= Math.min(page.skip, Number(row.matches));
      return toMatches(rows);
    }
    return undefined;
  }

  /**
   * Selects matches among candidates, each with the number of the candidates and, if some are skipped, of the matches; if there are none,
   * these alone. Those that are skipped take no memory here.
   */
  #selectMatches(
    candidates: string,
    parameters: Parameters,
    skip: number,
    limit: number,
    condition = 'true',
  ): string {
    const order = orderOf(this.#query).replace(keyColumnOf(this.#query), 'key');
    return `
      with candidates as materialized (${candidates}),
        size as materialized (select count(*) as books from candidates),
        matches as (
          select ${matchColumns(this.#query)} from ${this.#snapshot.dialect.candidates}
          where ${condition} and ${this.#match(parameters)}
        )
      select books, ${skip > 0 ? '(select count(*) from matches)' : '0'} as matches, page.* from size left join (
        select * from matches order by ${order} limit ${limit} offset ${skip}
      ) as page on true
      order by ${order}`;
  }

  /**
   * The most candidates to sort for a page: so many take about as long as it takes to find the page in the order of all books. For
   * example, for 51 of 10,000,000 books √(51 · 10,000,000) = 22,583. By id, and where their number is unknown, it is 5,000.
   */
  #sortedMax({ skippedNext, limit }: PageBuilder): number {
    const books = this.#query.sort === 'id' ? 0 : (this.#snapshot.estimatedBooks ?? 0);
    return Math.max(SORTED_MAX, Math.round(Math.sqrt((skippedNext + limit + 1) * books)));
  }

  /** The number of matches, by the first access path with few enough candidates to compare all of them. */
  async #countCandidates(paths: readonly AccessPath[]): Promise<number | undefined> {
    const { countedMax } = this.#snapshot.dialect;
    for (const path of paths) {
      const [row] = await this.#selectCandidates(path, countedMax, (selected, parameters) =>
        this.#countMatches(selected, parameters),
      );
      if (row) return Number(row.count);
    }
    return undefined;
  }

  /** Selects the number of the candidates, and that of the matches among them. */
  #countMatches(candidates: string, parameters: Parameters): string {
    return `
      with candidates as (${candidates})
      select count(*) as books, count(*) filter (where ${this.#match(parameters)}) as count
      from ${this.#snapshot.dialect.candidates}`;
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
    if (!(await this.#areTooMany(path, candidatesMax))) {
      const rows = await this.#snapshot.rows(statement(selected, parameters), parameters);
      if (Number(rows[0]?.books) <= candidatesMax) return rows;
    }
    this.#unselective.add(key);
    return [];
  }

  /** Whether an index alone has more candidates than these. */
  async #areTooMany({ ids }: AccessPath, candidatesMax: number): Promise<boolean> {
    if (!ids) return false;
    const [row] = await this.#rows(
      (parameters) =>
        `select count(*) as books from (${ids(parameters)} limit ${candidatesMax + 1}) as candidates`,
    );
    return Number(row?.books) > candidatesMax;
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

  /** Compares the candidates of some ranges of ids in a statement; if these may be many, the next books first. */
  #nextInRanges(page: PageBuilder, ranges: RangedPath): () => Promise<Passed> {
    const parts = new RangeParts(ranges, this.#query.isDescending);
    let isComparing = ranges.areMany;
    return async () => {
      if (isComparing) {
        isComparing = false;
        return this.#nextCompared(page);
      }
      const limit = page.selectedNext;
      const { rows, end } = await this.#selectInRanges(parts, page.last, (candidates, parameters) =>
        this.#selectMatches(candidates, parameters, 0, limit),
      );
      const matches = toMatches(rows);
      // Further ones may follow in these ranges.
      return { matches, end: matches.length === limit ? matches.at(-1) : end };
    };
  }

  /**
   * Runs a statement, which returns the number of its candidates, on those of the next ranges.
   *
   * @returns its rows, and the position of the last id of these ranges; undefined if no range follows
   */
  async #selectInRanges(
    parts: RangeParts,
    after: BookPosition | undefined,
    statement: (candidates: string, parameters: Parameters) => string,
  ): Promise<{ readonly rows: Row[]; readonly end: BookPosition | undefined }> {
    for (;;) {
      const { select, end } = parts.next(after);
      const rows = await this.#rows((parameters) => statement(select(parameters), parameters));
      if (parts.hadFew(Number(rows[0]?.books))) return { rows, end };
    }
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
    // Then an index of the order and the year is read alone, but for the matches.
    const columns = this.#needles
      ? matchColumns(this.#query)
      : `id, ${keyColumnOf(this.#query)} as key, (select bytes from book_search as book where book.id = found.id) as bytes`;
    return this.#matches(
      (parameters) =>
        `select ${columns} from (
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

  /** The number of all matches, if an index has it. */
  async #countByIndex(): Promise<number | undefined> {
    const [query, { positions }] = [this.#query, this.#snapshot];
    if (this.#needles) return this.#snapshot.countWords?.(query, this.#needles);
    if (!positions || !hasFieldCondition(query)) return this.#countBooks(undefined);
    const byYear = { ...query, sort: 'year', isDescending: false } as const;
    const countFrom = (year: number) => positions.countAfter(byYear, { key: year - 1, id: ID_MAX });
    // No book is from a year on that is after the last one.
    return Math.max(0, (await countFrom(query.yearFrom)) - (await countFrom(query.yearTo + 1)));
  }

  /** Counts matches among the candidates of the next ranges of ids; if most books match, among the next books. */
  #countingRanges(ranges: RangedPath): (after: BookPosition | undefined) => Promise<BookCount> {
    const parts = new RangeParts(ranges, false);
    let isComparing = ranges.areMany;
    return async (after) => {
      if (isComparing) {
        const part = await this.#countAfter(after);
        isComparing = part.count > COMMON_MIN;
        return part;
      }
      const { rows, end } = await this.#selectInRanges(parts, after, (candidates, parameters) =>
        this.#countMatches(candidates, parameters),
      );
      return { count: Number(rows[0]?.count), last: end };
    };
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

  /** The books after a position. By year, also in the years of the query: then the index begins at the first of them. */
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

function toMatches(rows: readonly Row[]): Match[] {
  return rows.filter(({ id }) => id !== null) as unknown as Match[];
}

/** The parts of ranges of ids that are read one after the other, by the number of candidates in those before. */
class RangeParts {
  readonly #ranges: RangedPath;
  readonly #isDescending: boolean;
  /** The ranges of the next part. */
  #number = 1;

  constructor(ranges: RangedPath, isDescending: boolean) {
    this.#ranges = ranges;
    this.#isDescending = isDescending;
  }

  /** The next part after a position, up to the end of a range. Its `end` is undefined if no part follows. */
  next(after: BookPosition | undefined): {
    readonly select: AccessPath;
    readonly end: BookPosition | undefined;
  } {
    const { first, last } = this.#idsAfter(after);
    const id = this.#isDescending ? first : last;
    const isEnd = id === (this.#isDescending ? this.#ranges.first : this.#ranges.last);
    const all = this.#ranges.select(first, last);
    return {
      select:
        this.#number === 1 ? all : (parameters) => `${all(parameters)} limit ${RANGES_CANDIDATES_MAX + 1}`,
      end: isEnd ? undefined : { key: id, id },
    };
  }

  /** Whether the part had few enough candidates. Otherwise it lacks some, and one range is to be read from the same position. */
  hadFew(candidates: number): boolean {
    const hadFew = this.#number === 1 || candidates <= RANGES_CANDIDATES_MAX;
    const growth = Math.min(RANGES_GROWTH, RANGES_CANDIDATES / Math.max(1, candidates));
    this.#number = hadFew ? Math.max(1, Math.floor(this.#number * growth)) : 1;
    return hadFew;
  }

  /** A position may be before all books, or after them. */
  #idsAfter(after: BookPosition | undefined): IdBounds {
    const { first, last, rangeIds } = this.#ranges;
    if (this.#isDescending) {
      const to = after ? Math.min(last, after.id - 1) : last;
      const from = (Math.floor(to / rangeIds) + 1 - this.#number) * rangeIds;
      return { first: Math.max(from, first), last: to };
    }
    const from = after ? Math.max(first, after.id + 1) : first;
    const to = (Math.floor(from / rangeIds) + this.#number) * rangeIds - 1;
    return { first: from, last: Math.min(to, last) };
  }
}
