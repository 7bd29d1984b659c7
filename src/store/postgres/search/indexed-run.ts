import { type BookCount, type BookPosition, type BookQuery, ID_MAX } from '../../../book/book.ts';
import { isFoldedMatch, type Needles, needlesOf } from '../../search/folding.ts';
import { type Candidate, hasYears, keyColumnOf, PageBuilder } from '../../search/page-builder.ts';
import type { Look, Row, Rows } from './search-run.ts';
import {
  behind,
  COMPARED_BYTES,
  COMPARED_BYTES_MAX,
  candidate,
  firstOf,
  fittingOf,
  INDEXED,
  isShortened,
  orderOf,
  Parameters,
  type Range,
  rangesBehind,
  textsOf,
  yearsOf,
} from './search-sql.ts';
import { LONG_MARK, trigramsOf } from './trigrams.ts';

/** How many books a statement looks at that filters them in the order of an index. */
const WINDOW_BOOKS = 5_000;

/** How many books a statement counts at most. */
const COUNT_BOOKS = 50_000;

/** Few enough books to be looked at all, and sorted. */
const FEW_BOOKS = 2_000;

/** More parts of texts, and more trigrams of one, are not looked up: the rest of them is compared. */
const PARTS_MAX = 16;
const TRIGRAMS_MAX = 64;

/** A call of a search in the table that is made for it. */
export class IndexedLook implements Look {
  readonly rows: Rows;
  readonly #query: BookQuery;
  readonly #needles: Needles | undefined;
  readonly #isShortened: boolean;

  constructor(query: BookQuery, rows: Rows) {
    this.rows = rows;
    this.#query = query;
    this.#needles = needlesOf(query);
    this.#isShortened = this.#needles !== undefined && isShortened(this.#needles);
  }

  async find(limit: number, after: BookPosition | undefined): Promise<PageBuilder> {
    const page = new PageBuilder(limit, after);
    const few = await this.#few();
    if (few) await this.#gather(page, few);
    else await this.#walk(page);
    return page;
  }

  /** Books are counted in the order of their ids, where not all of them can be counted at once. */
  async count(after: BookPosition | undefined): Promise<BookCount> {
    const few = after ? undefined : await this.#few();
    const parameters = new Parameters();
    if (few || !this.#needles) {
      const matches = few
        ? this.#matchesOf(few, parameters)
        : `from ${INDEXED} where ${this.#match(parameters)}`;
      const [row] = await this.rows(`select ${this.#counted('true')} ${matches}`, parameters.values);
      return { count: await this.#countOf(row), last: undefined };
    }
    const from = parameters.add(after?.id ?? -ID_MAX - 1);
    const window = `select * from ${INDEXED} where id > ${from} order by id limit ${COUNT_BOOKS}`;
    const match = `case when fits then ${this.#match(parameters)} else false end`;
    const [row] = await this.rows(
      `select count(*) as looked, count(*) filter (where fits) as fitting, max(id) filter (where fits) as last, ${this.#counted(match)}
       from ${fittingOf(window, 'id')}`,
      parameters.values,
    );
    const isEnd = Number(row?.looked) < COUNT_BOOKS && row?.fitting === row?.looked;
    const last = { key: Number(row?.last), id: Number(row?.last) };
    return { count: await this.#countOf(row), last: isEnd ? undefined : last };
  }

  /** The number of matches, and which they are where they have to be compared here. */
  #counted(match: string): string {
    const ids = this.#isShortened ? `array_agg(id) filter (where ${match})` : 'null';
    return `count(*) filter (where ${match}) as count, ${ids} as ids`;
  }

  async #countOf(row: Row | undefined): Promise<number> {
    return Array.isArray(row?.ids) ? (await this.#matching(row.ids)).size : Number(row?.count);
  }

  /** Which of some books match by the whole query. Their texts are short together, or this is one book. */
  async #matching(ids: readonly unknown[]): Promise<ReadonlySet<number>> {
    const books = await this.rows(
      `select id, array[title_lower, author_lower, words] as texts from ${INDEXED} where id = any($1::bigint[])`,
      [ids],
    );
    const needles = this.#needles as Needles;
    const matching = books.filter(({ texts }) =>
      isFoldedMatch(needles, ...(texts as [string, string, string])),
    );
    return new Set(matching.map(({ id }) => Number(id)));
  }

  /** Candidates that match, up to a number of them. */
  async #candidates(books: string, parameters: Parameters, limit: number): Promise<Row[]> {
    const most = this.#isShortened ? 'all' : `${limit}`;
    const rows = await this.rows(`${books} limit ${most}`, parameters.values);
    if (!this.#isShortened || rows.length === 0) return rows;
    const matching = await this.#matching(rows.map(({ id }) => id));
    return rows.filter(({ id }) => matching.has(Number(id)));
  }

  /** The few books that can match at all, where an index tells that they are few. */
  async #few(): Promise<Few | undefined> {
    const ways: Few[] = [];
    const parts = [...(this.#needles?.words ?? []), ...(this.#needles?.prefilters ?? [])];
    const trigrams = new Set(
      parts.slice(0, PARTS_MAX).flatMap((part) => trigramsOf(part).slice(0, TRIGRAMS_MAX)),
    );
    if (trigrams.size > 0)
      ways.push(
        (parameters) =>
          `(trigrams @> ${parameters.add([...trigrams])}::integer[] or trigrams @> '{${LONG_MARK}}'::integer[])`,
      );
    if (hasYears(this.#query)) ways.push((parameters) => yearsOf(this.#query, parameters));
    for (const way of ways) {
      const parameters = new Parameters();
      const candidates = `select ${COMPARED_BYTES} as bytes from ${INDEXED} where ${way(parameters)} limit ${FEW_BOOKS + 1}`;
      const [row] = await this.rows(
        `select count(*) as count, sum(bytes) as bytes from (${candidates}) as few`,
        parameters.values,
      );
      if (Number(row?.count) <= FEW_BOOKS && Number(row?.bytes) <= COMPARED_BYTES_MAX) return way;
    }
    return undefined;
  }

  /** @returns whether the page takes more */
  #takeAll(page: PageBuilder, rows: readonly Row[]): boolean {
    return rows.every((row) => page.add(row as unknown as Candidate));
  }

  async #gather(page: PageBuilder, few: Few): Promise<void> {
    const parameters = new Parameters();
    const rows = await this.#candidates(
      `select ${candidate(this.#query)} ${this.#matchesOf(few, parameters)}
         and ${behind(this.#query, page.last, parameters)}
       order by ${orderOf(this.#query)}`,
      parameters,
      page.limit + 1,
    );
    if (this.#takeAll(page, rows)) page.end();
  }

  /** Goes through the books in the order of an index, by windows where some of them may not match. */
  async #walk(page: PageBuilder): Promise<void> {
    const isRange = !this.#needles && (this.#query.sort === 'year' || !hasYears(this.#query));
    let ranges = rangesBehind(this.#query, page.last);
    for (let range = ranges.shift(); range; range = ranges.shift()) {
      const parameters = new Parameters();
      const condition = range(parameters);
      const books = isRange
        ? `(${firstOf(this.#query, `${condition} and ${this.#match(parameters)}`, page.limit + 1)}) as books`
        : `${this.#windowOf(condition)} where case when fits then ${this.#match(parameters)} else false end
           order by number`;
      const rows = await this.#candidates(
        `select ${candidate(this.#query)} from ${books}`,
        parameters,
        page.limit + 1,
      );
      if (!this.#takeAll(page, rows)) return;
      const end = isRange ? undefined : await this.#endOfWindow(range);
      if (!end) continue;
      if (!page.skipTo(end)) return;
      ranges = rangesBehind(this.#query, end);
    }
    page.end();
  }

  #windowOf(condition: string): string {
    return fittingOf(firstOf(this.#query, condition, WINDOW_BOOKS), orderOf(this.#query));
  }

  /** @returns the last book that fits into a window; undefined where no book comes behind it */
  async #endOfWindow(range: Range): Promise<BookPosition | undefined> {
    const parameters = new Parameters();
    const window = this.#windowOf(range(parameters));
    const [end] = await this.rows(
      `select id, ${keyColumnOf(this.#query.sort)} as key
       from (select *, lead(fits) over (order by number) as is_next_fitting from ${window}) as looked
       where fits and (not is_next_fitting or number = ${WINDOW_BOOKS})`,
      parameters.values,
    );
    return end as BookPosition | undefined;
  }

  /** Looked up first, whatever the planner thinks: they are known to be few. */
  #matchesOf(few: Few, parameters: Parameters): string {
    const ids = `(select id from ${INDEXED} where ${few(parameters)} offset 0)`;
    return `from ${ids} as few join ${INDEXED} using (id) where ${this.#match(parameters)}`;
  }

  #match(parameters: Parameters): string {
    return `${yearsOf(this.#query, parameters)} and ${textsOf(this.#needles, parameters)}`;
  }
}

type Few = (parameters: Parameters) => string;
