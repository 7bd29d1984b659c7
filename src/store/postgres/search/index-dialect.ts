import { ID_MAX, YEAR_MAX } from '../../../book/book.ts';
import type { BookCount, BookPosition, BookQuery } from '../../../book/book-store-interface.ts';
import {
  afterCondition,
  COMPARED_BYTES_SQL,
  type Condition,
  fieldCondition,
  hasFieldCondition,
  keyColumnOf,
  matchColumns,
  orderOf,
  Parameters,
} from '../../search/conditions.ts';
import type { AccessPath, ComparedMatches, IndexDialect, Match, Row } from '../../search/engine-interface.ts';
import { isFoldedMatch, type Needles } from '../../search/folding.ts';
import { AUTHOR_LOWER, isShortened, TITLE_LOWER, textCondition } from './text-conditions.ts';
import { LONG_MARK, neededTrigramsOf } from './trigrams.ts';

/** The most books that a statement compares for a page: forwards it stops when the page is full, backwards it reads all. */
const WINDOW_BOOKS = { forwards: 20_000, backwards: 5_000 };
/** The same for a count. */
const COUNT_BOOKS = 50_000;
/** The most bytes of text that a statement compares; a single book may have more. */
const COMPARED_BYTES_MAX = 2 * 1_024 * 1_024;
/** The most candidates that one statement counts, and the most bytes of their text. */
const COUNTED_CANDIDATES = 100_000;
const COUNTED_BYTES_MAX = 8 * 1_024 * 1_024;

type RunQuery = (sql: string, values: unknown[]) => Promise<Row[]>;

/** Statements over the index, each in its own transaction. */
export class PostgresIndexDialect implements IndexDialect {
  readonly parameterSign = '$';
  readonly accessPaths: readonly AccessPath[];
  readonly candidatesMax = 5_000;
  readonly candidateBytesMax = COMPARED_BYTES_MAX;
  readonly #query: BookQuery;
  readonly #needles: Needles | undefined;
  readonly #rows: RunQuery;
  readonly #isShortened: boolean;

  constructor(query: BookQuery, needles: Needles | undefined, rows: RunQuery) {
    this.#query = query;
    this.#needles = needles;
    this.#rows = rows;
    this.#isShortened = needles !== undefined && isShortened(needles);
    this.accessPaths = accessPathsOf(query, needles);
  }

  /** `offset 0` makes the planner evaluate the candidates first. */
  candidatesOf(path: AccessPath, parameters: Parameters, limit?: number): string {
    const candidates = `select ${COLUMNS} from book_search where ${path(parameters)} limit ${limit ?? 'all'} offset 0`;
    return `(${candidates}) as candidates`;
  }

  textCondition(parameters: Parameters): string {
    return textCondition(this.#needles, parameters);
  }

  firstBooks(condition: string, limit: number): string {
    return `(${firstBooks(this.#query, condition, limit)}) as first_books`;
  }

  rows(sql: string, { values }: Parameters): Promise<Row[]> {
    return this.#rows(sql, values);
  }

  /** If the query is shortened, the service itself compares the result of the statement. */
  async matches(sql: string, { values }: Parameters, limit: number): Promise<Match[]> {
    const rows = await this.#rows(`${sql} limit ${this.#isShortened ? 'all' : limit}`, values);
    const matches = rows as unknown as Match[];
    if (!this.#isShortened || matches.length === 0) return matches;
    const matching = await this.#matching(matches.map(({ id }) => id));
    return matches.filter(({ id }) => matching.has(id)).slice(0, limit);
  }

  async count(from: string, { values }: Parameters): Promise<number> {
    const [row] = await this.#rows(`select ${this.#counted('true')} from ${from}`, values);
    return this.#countIn(row);
  }

  /** Counts the candidates that match, unless they are too many or too long for one statement. */
  async countByIndex(match: Condition): Promise<number | undefined> {
    const [path] = this.accessPaths;
    if (!path) return undefined;
    const parameters = new Parameters('$');
    const candidates = this.candidatesOf(path, parameters, COUNTED_CANDIDATES + 1);
    const fittingMatch = `case when total <= ${COUNTED_BYTES_MAX} then ${match(parameters)} else false end`;
    const [row] = await this.#rows(
      `select count(*) as read, max(total) as bytes, ${this.#counted(fittingMatch)}
       from (
         select *, sum(${COMPARED_BYTES_SQL}) over (rows unbounded preceding) as total from ${candidates}
       ) as compared_candidates`,
      parameters.values,
    );
    const isComplete = Number(row?.read) <= COUNTED_CANDIDATES && Number(row?.bytes) <= COUNTED_BYTES_MAX;
    return isComplete ? this.#countIn(row) : undefined;
  }

  async compareIn(range: Condition, match: Condition, limit: number): Promise<ComparedMatches> {
    const parameters = new Parameters('$');
    const size = isBackwards(this.#query) ? WINDOW_BOOKS.backwards : WINDOW_BOOKS.forwards;
    const window = windowOf(this.#query, range(parameters), size);
    const matches = await this.matches(
      `select ${matchColumns(this.#query)} from ${window}
       where case when fits then ${match(parameters)} else false end order by ${orderOf(this.#query)}`,
      parameters,
      limit,
    );
    if (matches.length >= limit) return { matches, end: undefined };
    const ofRange = new Parameters('$');
    const [end] = await this.#rows(
      `select id, ${keyColumnOf(this.#query)} as key
       from (
         select *, lead(fits) over (order by number) as is_next_fitting
         from ${windowOf(this.#query, range(ofRange), size)}
       ) as compared
       where fits and (not is_next_fitting or number = ${size})`,
      ofRange.values,
    );
    return { matches, end: end as BookPosition | undefined };
  }

  async countAfter(after: BookPosition | undefined, match: Condition): Promise<BookCount> {
    const byId: BookQuery = { ...this.#query, sort: 'id', isDescending: false };
    const parameters = new Parameters('$');
    const window = windowOf(byId, afterCondition(byId, after)(parameters), COUNT_BOOKS);
    const fittingMatch = `case when fits then ${match(parameters)} else false end`;
    const [row] = await this.#rows(
      `select count(*) as read, count(*) filter (where fits) as compared, max(id) filter (where fits) as last, ${this.#counted(fittingMatch)}
       from ${window}`,
      parameters.values,
    );
    const isEnd = Number(row?.read) < COUNT_BOOKS && row?.compared === row?.read;
    const last = { key: Number(row?.last), id: Number(row?.last) };
    return { count: await this.#countIn(row), last: isEnd ? undefined : last };
  }

  /** Columns that count the books that match, and list their ids if the query is shortened. */
  #counted(match: string): string {
    const ids = this.#isShortened ? `array_agg(id) filter (where ${match})` : 'null';
    return `count(*) filter (where ${match}) as count, ${ids} as ids`;
  }

  async #countIn(row: Row | undefined): Promise<number> {
    return Array.isArray(row?.ids) ? (await this.#matching(row.ids)).size : Number(row?.count);
  }

  /** Compares books with the whole query. The caller bounds the length of their texts. */
  async #matching(ids: readonly unknown[]): Promise<ReadonlySet<number>> {
    const books = await this.#rows(
      `select id, array[${TITLE_LOWER}, ${AUTHOR_LOWER}, words] as texts from book_search where id = any($1::bigint[])`,
      [ids],
    );
    const needles = this.#needles as Needles;
    const matching = books.filter(({ texts }) =>
      isFoldedMatch(needles, ...(texts as [string, string, string])),
    );
    return new Set(matching.map(({ id }) => Number(id)));
  }
}

function accessPathsOf(query: BookQuery, needles: Needles | undefined): AccessPath[] {
  const trigrams = neededTrigramsOf(needles);
  const paths: AccessPath[] = [];
  const byTrigrams: AccessPath = (parameters) =>
    `(trigrams @> ${parameters.add(trigrams)}::smallint[] or trigrams @> '{${LONG_MARK}}'::smallint[])`;
  if (trigrams.length > 0) paths.push(byTrigrams);
  if (hasFieldCondition(query)) paths.push((parameters) => fieldCondition(query, parameters));
  return paths;
}

const COLUMNS = 'id, title_key, author_key, year, bytes, title_lower, author_lower, words';

/** The first books that meet a condition, in an order; each one `fits` if the statement may compare all texts up to it. */
function windowOf(query: BookQuery, condition: string, limit: number): string {
  return `(
    select *, number = 1 or total <= ${COMPARED_BYTES_MAX} as fits
    from (
      select *, row_number() over preceding as number, sum(${COMPARED_BYTES_SQL}) over preceding as total
      from (
        ${firstBooks(query, condition, limit)}
      ) as books_in_order
      window preceding as (order by ${orderOf(query)} rows unbounded preceding)
    ) as numbered
  ) as compared_books`;
}

/**
 * In descending order, equal keys are nevertheless in ascending order of id, which an index read backwards does not have.
 * So the books with the last key are read separately, by a condition for which the planner reads the index in its order.
 */
function firstBooks(query: BookQuery, condition: string, limit: number): string {
  const key = keyColumnOf(query);
  const books = `select ${COLUMNS} from book_search where ${condition}`;
  if (!isBackwards(query)) return `${books} order by ${orderOf(query)} limit ${limit}`;
  const least = query.sort === 'year' ? -YEAR_MAX - 1 : "''";
  return `
    with last as materialized (
      select ${key} as key from book_search where ${condition} order by ${key} desc offset ${limit - 1} limit 1
    )
    (${books} and ${key} > coalesce((select key from last), ${least}))
    union all (
      ${books} and (${key}, id) >= ((select key from last), ${-ID_MAX}) and ${key} <= (select key from last)
      order by ${key}, id limit ${limit}
    )
    order by ${orderOf(query)} limit ${limit}`;
}

function isBackwards({ sort, isDescending }: BookQuery): boolean {
  return isDescending && sort !== 'id';
}
