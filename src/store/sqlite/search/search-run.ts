import type { SQLOutputValue, StatementSync } from 'node:sqlite';
import type { BookCount, BookPosition, BookQuery } from '../../../book/book.ts';
import { type Needles, needlesOf } from '../../search/folding.ts';
import {
  type Candidate,
  callDeadline,
  hasYears,
  keyColumnOf,
  PageBuilder,
} from '../../search/page-builder.ts';
import { type Matching, TooMuchText } from './matching.ts';
import {
  behind,
  candidate,
  INDEXED,
  orderOf,
  rangesBehind,
  type Sql,
  textsOf,
  unindexed,
  yearsOf,
} from './search-sql.ts';
import { areExact, LONG_MARK, trigramsOf } from './trigrams.ts';

/** A row of a result, by the names of its columns. */
export type Row = Record<string, SQLOutputValue>;

/** Prepares a statement, or has done so before. */
export type Prepare = (sql: string) => StatementSync;

/** The most books, and the most characters of their texts, that a statement compares in the order of an index. */
const WINDOW_BOOKS = 20_000;
const WINDOW_LENGTH = 4 * 1_024 * 1_024;

/** The same, where their texts are folded on the way. */
const UNINDEXED_WINDOW_BOOKS = 5_000;
const UNINDEXED_WINDOW_LENGTH = 1_024 * 1_024;

/** Few enough books to be compared at once, and sorted, unless their texts are longer than a window. */
const FEW_BOOKS = 5_000;

/** One call of a search, within a read transaction. */
export class Look {
  readonly #query: BookQuery;
  readonly #needles: Needles | undefined;
  readonly #isIndexed: boolean;
  readonly #prepare: Prepare;
  readonly #matching: Matching;

  constructor(query: BookQuery, isIndexed: boolean, prepare: Prepare, matching: Matching) {
    this.#query = query;
    this.#needles = needlesOf(query);
    this.#isIndexed = isIndexed;
    this.#prepare = prepare;
    this.#matching = matching;
  }

  find(limit: number, after: BookPosition | undefined): PageBuilder {
    const page = new PageBuilder(limit, after);
    const few = this.#few();
    if (few) this.#gather(page, few);
    else this.#walk(page);
    return page;
  }

  /** Books are counted in the order of their ids, where not all of them can be counted at once. */
  count(after: BookPosition | undefined): BookCount {
    const whole = after ? undefined : this.#countWhole();
    if (whole !== undefined) return { count: whole, last: undefined };

    const byId: BookQuery = { ...this.#query, sort: 'id', isDescending: false };
    const deadline = callDeadline();
    let count = 0;
    for (let last = after; ; ) {
      const { text, values } = behind(byId, last);
      const { size, result } = this.#shrinking((books) => {
        const window = `select * from ${this.#sourceOf(byId)} where ${text} order by id limit ${books}`;
        return this.#rows(
          `select count(*) as looked, max(id) as last, count(*) filter (where ${this.#match}) as count from (${window})`,
          { ...values, ...this.#years.values },
        );
      });
      const [row] = result;
      count += Number(row?.count);
      if (Number(row?.looked) < size) return { count, last: undefined };
      last = { key: Number(row?.last), id: Number(row?.last) };
      if (performance.now() > deadline) return { count, last };
    }
  }

  /** The few books that can match at all, where an index tells that they are few. */
  #few(): Sql | undefined {
    if (!this.#isIndexed) return undefined;
    const words = trigramsOf(this.#needles);
    const { yearFrom, yearTo } = this.#query;
    const ways: Sql[] = [];
    if (words)
      ways.push({
        text: 'select rowid as id from book_words where book_words match :words',
        values: { words: `(${words}) OR "${LONG_MARK}"` },
      });
    if (hasYears(this.#query)) {
      const text = 'select id from book_search where year between :firstYear and :lastYear';
      ways.push({ text, values: { firstYear: yearFrom, lastYear: yearTo } });
    }
    return ways.find(({ text, values }) => {
      const few = `(${text} limit ${FEW_BOOKS + 1}) as few cross join book_search using (id)`;
      const length = 'octet_length(title_lower) + octet_length(author_lower) + octet_length(words)';
      const [row] = this.#rows(`select count(*) as count, sum(${length}) as length from ${few}`, values);
      return Number(row?.count) <= FEW_BOOKS && Number(row?.length) <= WINDOW_LENGTH;
    });
  }

  #gather(page: PageBuilder, few: Sql): void {
    const place = behind(this.#query, page.last);
    const rows = this.#rows(
      `select ${candidate(this.#query)} from (${few.text}) as few cross join book_search using (id)
       where ${place.text} and ${this.#match} order by ${orderOf(this.#query)} limit ${page.limit + 1}`,
      { ...few.values, ...place.values, ...this.#years.values },
    );
    if (takeAll(page, rows)) page.end();
  }

  /** Goes through the books in the order of an index, by windows where some of them may not match. */
  #walk(page: PageBuilder): void {
    const { sort } = this.#query;
    const isRange = !this.#needles && (sort === 'year' || !hasYears(this.#query));
    const order = orderOf(this.#query);
    let ranges = rangesBehind(this.#query, page.last);
    for (let range = ranges.shift(); range; range = ranges.shift()) {
      const source = `from ${this.#sourceOf(this.#query)} where ${range.text}`;
      const values = { ...range.values, ...this.#years.values };
      const limit = `limit ${page.limit + 1}`;
      if (isRange) {
        const books = `select ${candidate(this.#query)} ${source} and ${this.#years.text} order by ${order} ${limit}`;
        if (!takeAll(page, this.#run(books).iterate(values))) return;
        continue;
      }
      const { size, result } = this.#shrinking((books) =>
        this.#rows(
          `select ${candidate(this.#query)} from (select * ${source} order by ${order} limit ${books}) where ${this.#match} ${limit}`,
          values,
        ),
      );
      if (!takeAll(page, result)) return;
      const end = this.#endOfWindow(source, order, range.values, size);
      if (!end) continue;
      if (!page.skipTo(end)) return;
      ranges = rangesBehind(this.#query, end);
    }
    page.end();
  }

  #endOfWindow(source: string, order: string, values: Sql['values'], size: number): BookPosition | undefined {
    const end = `select id, ${keyColumnOf(this.#query.sort)} as key ${source} order by ${order} limit 1 offset ${size - 1}`;
    const [row] = this.#rows(end, values);
    return row as BookPosition | undefined;
  }

  /** The number of matches where it can be had at once: there are few candidates, or an index has it. */
  #countWhole(): number | undefined {
    if (!this.#isIndexed) return undefined;
    const few = this.#few();
    if (few) {
      const matches = `(${few.text}) as few cross join book_search using (id) where ${this.#match}`;
      return this.#countOf(matches, { ...few.values, ...this.#years.values });
    }
    if (!this.#needles) return this.#countOf(`${INDEXED} where ${this.#years.text}`, this.#years.values);
    if (!areExact(this.#needles) || hasYears(this.#query)) return undefined;
    const words = 'book_words where book_words match :words';
    const hasLongTexts = this.#countOf(`(select 1 from ${words} limit 1)`, { words: `"${LONG_MARK}"` }) > 0;
    return hasLongTexts ? undefined : this.#countOf(words, { words: trigramsOf(this.#needles) ?? '' });
  }

  #countOf(matches: string, values: Sql['values']): number {
    const [row] = this.#rows(`select count(*) as count from ${matches}`, values);
    return Number(row?.count);
  }

  /** Runs a statement over a window, of fewer books where their texts are long. @returns what it ran with, too */
  #shrinking<Result>(run: (books: number) => Result): { readonly size: number; readonly result: Result } {
    const sizeMax = this.#isIndexed ? WINDOW_BOOKS : UNINDEXED_WINDOW_BOOKS;
    for (;;) {
      const size = Math.min(this.#matching.windowBooks, sizeMax);
      try {
        const result = run(size);
        if (this.#matching.isHalfEmpty) this.#matching.windowBooks = Math.min(2 * size, WINDOW_BOOKS);
        return { size, result };
      } catch (error) {
        if (!(error instanceof TooMuchText)) throw error;
        this.#matching.windowBooks = error.books;
      }
    }
  }

  #rows(sql: string, values: Sql['values']): Row[] {
    return this.#run(sql).all(values);
  }

  #run(sql: string): StatementSync {
    this.#matching.begin(this.#needles, this.#isIndexed ? WINDOW_LENGTH : UNINDEXED_WINDOW_LENGTH);
    return this.#prepare(sql);
  }

  #sourceOf(query: BookQuery): string {
    return this.#isIndexed ? INDEXED : unindexed(query);
  }

  get #match(): string {
    return `${textsOf(this.#needles, this.#isIndexed)} and ${this.#years.text}`;
  }

  get #years(): Sql {
    return yearsOf(this.#query);
  }
}

/** @returns whether the page takes more */
function takeAll(page: PageBuilder, rows: Iterable<Row>): boolean {
  for (const row of rows) if (!page.add(row as unknown as Candidate)) return false;
  return true;
}
