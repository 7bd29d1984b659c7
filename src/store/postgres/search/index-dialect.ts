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
  selectPosition,
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
const SORTED_CANDIDATES = 5_000;

type RunQuery = (sql: string, values: unknown[]) => Promise<Row[]>;

/** Statements over the index, each in its own transaction. */
export class PostgresIndexDialect implements IndexDialect {
  readonly parameterSign = '$';
  readonly accessPaths: readonly AccessPath[];
  readonly sortedMax = { books: SORTED_CANDIDATES, bytes: COMPARED_BYTES_MAX };
  readonly countedMax = { books: COUNTED_CANDIDATES, bytes: COUNTED_BYTES_MAX };
  /** PostgreSQL keeps only references to long texts. */
  readonly keptColumns = '*';
  readonly keptBooks = 'candidates';
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

  /** The planner evaluates the candidates first, as they have a limit. */
  candidatesOf(path: AccessPath, parameters: Parameters, limit: number): string {
    return `(select ${COLUMNS} from book_search where ${path(parameters)} limit ${limit}) as candidates`;
  }

  textCondition(parameters: Parameters): string {
    return textCondition(this.#needles, parameters);
  }

  firstBooks(condition: string, limit: number): string {
    return `(${firstBooks(this.#query, condition, limit)}) as first_books`;
  }

  /** In descending order, the index finds the key first, then the same number of ids in ascending order. */
  async positionAt(range: Condition, number: number): Promise<BookPosition | undefined> {
    const parameters = new Parameters('$');
    const condition = range(parameters);
    const nth = parameters.add(number);
    const sql = isBackwards(this.#query)
      ? selectPositionBackwards(keyColumnOf(this.#query), condition, nth)
      : selectPosition(this.#query, 'book_search', condition, nth);
    return (await this.rows(sql, parameters))[0] as BookPosition | undefined;
  }

  rows(sql: string, { values }: Parameters): Promise<Row[]> {
    return this.#rows(sql, values);
  }

  /** All, if the query is shortened. */
  rowsFor(limit: number): number {
    return this.#isShortened ? WINDOW_BOOKS.forwards : limit;
  }

  /** If the query is shortened, the service itself compares the selected books. */
  async confirm(selected: readonly Match[], limit: number): Promise<readonly Match[]> {
    if (!this.#isShortened || selected.length === 0) return selected;
    const matching = await this.#matching(selected.map(({ id }) => id));
    return selected.filter(({ id }) => matching.has(id)).slice(0, limit);
  }

  /** If the query is shortened, the columns have the ids, too. */
  countColumns(condition: string): string {
    const ids = this.#isShortened ? `array_agg(id) filter (where ${condition})` : 'null';
    return `count(*) filter (where ${condition}) as count, ${ids} as ids`;
  }

  async countOf(row: Row | undefined): Promise<number> {
    return Array.isArray(row?.ids) ? (await this.#matching(row.ids)).size : Number(row?.count);
  }

  async compareIn(range: Condition, match: Condition, limit: number): Promise<ComparedMatches> {
    const parameters = new Parameters('$');
    const size = isBackwards(this.#query) ? WINDOW_BOOKS.backwards : WINDOW_BOOKS.forwards;
    const window = windowOf(this.#query, range(parameters), size);
    const isMatch = match(parameters);
    const rows = (await this.rows(
      `select ${matchColumns(this.#query)}, is_last as "isLast", ${isMatch} as "isMatch" from ${window}
       where case when fits then is_last or ${isMatch} else false end order by ${orderOf(this.#query)} limit ${this.rowsFor(limit)}`,
      parameters,
    )) as unknown as (Match & { readonly isLast: boolean; readonly isMatch: boolean })[];
    const selected = rows.filter((row) => row.isMatch);
    const matches = await this.confirm(selected, limit);
    return { matches, end: matches.length < limit ? rows.find(({ isLast }) => isLast) : undefined };
  }

  async countAfter(after: BookPosition | undefined, match: Condition): Promise<BookCount> {
    const byId: BookQuery = { ...this.#query, sort: 'id', isDescending: false };
    const parameters = new Parameters('$');
    const window = windowOf(byId, afterCondition(byId, after)(parameters), COUNT_BOOKS);
    const isMatch = `case when fits then ${match(parameters)} else false end`;
    const [row] = await this.rows(
      `select max(id) filter (where fits and is_last) as last, ${this.countColumns(isMatch)} from ${window}`,
      parameters,
    );
    const last = row?.last as number | null;
    return { count: await this.countOf(row), last: last === null ? undefined : { key: last, id: last } };
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

/**
 * The first books that meet a condition, in an order; each one `fits` if the statement may compare all texts up to it. Of
 * these, one `is_last` if others may follow.
 */
function windowOf(query: BookQuery, condition: string, limit: number): string {
  return `(
    select *, number = 1 or total <= ${COMPARED_BYTES_MAX} as fits,
      number = ${limit} or total + next_bytes > ${COMPARED_BYTES_MAX} as is_last
    from (
      select *, row_number() over preceding as number, sum(${COMPARED_BYTES_SQL}) over preceding as total,
        lead(${COMPARED_BYTES_SQL}) over preceding as next_bytes
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

function selectPositionBackwards(key: string, condition: string, number: string): string {
  const equal = `from book_search where ${condition} and ${key} = found.key`;
  return `
    with found as materialized (
      select id, ${key} as key from book_search where ${condition}
      order by ${key} desc, id desc limit 1 offset ${number} - 1
    )
    select key, (
      select id ${equal} order by ${key}, id limit 1 offset (select count(*) - 1 ${equal} and id >= found.id)
    ) as id from found`;
}

function isBackwards({ sort, isDescending }: BookQuery): boolean {
  return isDescending && sort !== 'id';
}
