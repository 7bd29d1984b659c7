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
import { isShortened, textCondition } from './text-conditions.ts';
import { LONG_MARK, neededTrigramsOf } from './trigrams.ts';

/** The most books that a statement compares, for a page and for a count. */
const WINDOW_BOOKS = 5_000;
const COUNT_BOOKS = 50_000;
/** The most bytes of text that a statement compares; a single book may have more. */
const COMPARED_BYTES_MAX = 2 * 1_024 * 1_024;

type RunQuery = (sql: string, values: unknown[]) => Promise<Row[]>;

/** Statements over the index, each in its own transaction. */
export class PostgresIndexDialect implements IndexDialect {
  readonly parameterSign = '$';
  readonly accessPaths: readonly AccessPath[];
  readonly candidatesMax = 2_000;
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

  async countByIndex(): Promise<undefined> {}

  async compareIn(range: Condition, match: Condition, limit: number): Promise<ComparedMatches> {
    const parameters = new Parameters('$');
    const order = orderOf(this.#query);
    const window = windowOf(range(parameters), order, WINDOW_BOOKS);
    const matches = await this.matches(
      `select ${matchColumns(this.#query)} from ${window}
       where case when fits then ${match(parameters)} else false end order by number`,
      parameters,
      limit,
    );
    if (matches.length >= limit) return { matches, end: undefined };
    const ofRange = new Parameters('$');
    const [end] = await this.#rows(
      `select id, ${keyColumnOf(this.#query)} as key
       from (
         select *, lead(fits) over (order by number) as is_next_fitting
         from ${windowOf(range(ofRange), order, WINDOW_BOOKS)}
       ) as compared
       where fits and (not is_next_fitting or number = ${WINDOW_BOOKS})`,
      ofRange.values,
    );
    return { matches, end: end as BookPosition | undefined };
  }

  async countAfter(after: BookPosition | undefined, match: Condition): Promise<BookCount> {
    const byId: BookQuery = { ...this.#query, sort: 'id', isDescending: false };
    const parameters = new Parameters('$');
    const window = windowOf(afterCondition(byId, after)(parameters), 'id', COUNT_BOOKS);
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
      'select id, array[title_lower, author_lower, words] as texts from book_search where id = any($1::bigint[])',
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
    `(trigrams @> ${parameters.add(trigrams)}::integer[] or trigrams @> '{${LONG_MARK}}'::integer[])`;
  if (trigrams.length > 0) paths.push(byTrigrams);
  if (hasFieldCondition(query)) paths.push((parameters) => fieldCondition(query, parameters));
  return paths;
}

const COLUMNS = 'id, title_key, author_key, year, bytes, title_lower, author_lower, words';

/** The first books that meet a condition, in an order; each one `fits` if the statement may compare all texts up to it. */
function windowOf(condition: string, order: string, limit: number): string {
  return `(
    select *, number = 1 or total <= ${COMPARED_BYTES_MAX} as fits
    from (
      select *, row_number() over preceding as number, sum(${COMPARED_BYTES_SQL}) over preceding as total
      from (
        select ${COLUMNS} from book_search where ${condition} order by ${order} limit ${limit}
      ) as books_in_order
      window preceding as (order by ${order} rows unbounded preceding)
    ) as numbered
  ) as compared_books`;
}
