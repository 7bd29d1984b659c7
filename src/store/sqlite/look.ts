import type { SQLOutputValue } from 'node:sqlite';
import type { BookCount, BookPosition, BookQuery } from '../../book.ts';
import { type Candidate, Finding, hasYears, keyColumnOf, lookingDeadline } from '../finding.ts';
import { type Needles, needlesOf } from '../text.ts';
import {
  behind,
  candidate,
  conditionsOf,
  INDEXED,
  orderOf,
  rangesBehind,
  type Sql,
  UNINDEXED,
} from './search-sql.ts';

/** A row of a result, by the names of its columns. */
export type Row = Record<string, SQLOutputValue>;

/** How many books a statement looks at that filters them in the order of an index. */
const WINDOW_BOOKS = 20_000;

/** The same, where their texts are folded on the way. */
const UNINDEXED_WINDOW_BOOKS = 5_000;

/** Few enough books to be looked at all, and sorted. */
const FEW_BOOKS = 5_000;

/** One call of a search, within a read transaction. */
export class Look {
  readonly #query: BookQuery;
  readonly #needles: Needles | undefined;
  readonly #conditions: Sql | undefined;
  readonly #isIndexed: boolean;
  readonly #source: string;
  readonly #rows: (sql: string, values: Sql['values']) => Iterable<Row>;

  constructor(
    query: BookQuery,
    isIndexed: boolean,
    rows: (sql: string, values: Sql['values']) => Iterable<Row>,
  ) {
    this.#query = query;
    this.#needles = needlesOf(query);
    this.#conditions = conditionsOf(query, this.#needles);
    this.#isIndexed = isIndexed;
    this.#source = isIndexed ? INDEXED : UNINDEXED;
    this.#rows = rows;
  }

  find(limit: number, after: BookPosition | undefined): Finding {
    const finding = new Finding(limit, after);
    const few = this.#few();
    if (few) this.#gather(finding, few);
    else this.#walk(finding);
    return finding;
  }

  /** Books are counted in the order of their ids, where not all of them can be counted at once. */
  count(after: BookPosition | undefined): BookCount {
    const few = after ? undefined : this.#few();
    if (few) {
      const matches = `(${few.text}) as few cross join book_search using (id) where ${this.#match}`;
      return { count: this.#countOf(matches, { ...few.values, ...this.#values }), last: undefined };
    }
    const whole = after ? undefined : this.#countWhole();
    if (whole !== undefined) return { count: whole, last: undefined };

    const byId: BookQuery = { ...this.#query, sort: 'id', isDescending: false };
    const deadline = lookingDeadline();
    let count = 0;
    for (let last = after; ; ) {
      const { text, values } = behind(byId, last);
      const window = `select * from ${this.#source} where ${text} order by id limit ${this.#windowBooks}`;
      const [row] = this.#rows(
        `select count(*) as looked, max(id) as last, count(*) filter (where ${this.#match}) as count from (${window})`,
        { ...values, ...this.#values },
      );
      count += Number(row?.count);
      if (Number(row?.looked) < this.#windowBooks) return { count, last: undefined };
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
        values: { words },
      });
    if (hasYears(this.#query)) {
      const text = 'select id from book_search where year between :firstYear and :lastYear';
      ways.push({ text, values: { firstYear: yearFrom, lastYear: yearTo } });
    }
    return ways.find(({ text, values }) => {
      const [row] = this.#rows(`select count(*) as count from (${text} limit ${FEW_BOOKS + 1})`, values);
      return Number(row?.count) <= FEW_BOOKS;
    });
  }

  #gather(finding: Finding, few: Sql): void {
    const place = behind(this.#query, finding.last);
    const rows = this.#rows(
      `select ${candidate(this.#query)} from (${few.text}) as few cross join book_search using (id)
       where ${place.text} and ${this.#match} order by ${orderOf(this.#query)} limit ${finding.limit + 1}`,
      { ...few.values, ...place.values, ...this.#values },
    );
    if (takeAll(finding, rows)) finding.end();
  }

  /** Goes through the books in the order of an index, by windows where some of them may not match. */
  #walk(finding: Finding): void {
    const { sort } = this.#query;
    const isRange = !this.#needles && (sort === 'year' || !hasYears(this.#query));
    const order = orderOf(this.#query);
    let ranges = rangesBehind(this.#query, finding.last);
    for (let range = ranges.shift(); range; range = ranges.shift()) {
      const source = `from ${this.#source} where ${range.text}`;
      const window = `from (select * ${source} order by ${order} limit ${this.#windowBooks}) where ${this.#match}`;
      const matches = isRange ? `${source} and ${this.#match} order by ${order}` : window;
      const rows = this.#rows(`select ${candidate(this.#query)} ${matches} limit ${finding.limit + 1}`, {
        ...range.values,
        ...this.#values,
      });
      if (!takeAll(finding, rows)) return;
      const end = isRange ? undefined : this.#endOfWindow(source, order, range.values);
      if (!end) continue;
      if (!finding.pass(end)) return;
      ranges = rangesBehind(this.#query, end);
    }
    finding.end();
  }

  #endOfWindow(source: string, order: string, values: Sql['values']): BookPosition | undefined {
    const end = `select id, ${keyColumnOf(this.#query.sort)} as key ${source} order by ${order} limit 1 offset ${this.#windowBooks - 1}`;
    const [row] = this.#rows(end, values);
    return row as BookPosition | undefined;
  }

  /** The number of matches where an index has it without a look at the books. */
  #countWhole(): number | undefined {
    if (!this.#needles) return this.#countOf(`${this.#source} where ${this.#match}`, this.#values);
    if (!this.#isIndexed) return undefined;
    if (!isWhole(this.#needles) || hasYears(this.#query)) return undefined;
    return this.#countOf('book_words where book_words match :words', {
      words: trigramsOf(this.#needles) ?? '',
    });
  }

  #countOf(matches: string, values: Sql['values']): number {
    const [row] = this.#rows(`select count(*) as count from ${matches}`, values);
    return Number(row?.count);
  }

  get #match(): string {
    return this.#conditions?.text ?? 'true';
  }

  get #values(): Sql['values'] {
    return this.#conditions?.values ?? {};
  }

  get #windowBooks(): number {
    return this.#isIndexed ? WINDOW_BOOKS : UNINDEXED_WINDOW_BOOKS;
  }
}

/** @returns whether the finding takes more */
function takeAll(finding: Finding, rows: Iterable<Row>): boolean {
  for (const row of rows) if (!finding.take(row as unknown as Candidate)) return false;
  return true;
}

/** More parts of texts, and longer ones, are not looked up: the rest of them is compared. */
const PARTS_MAX = 16;
const PART_LENGTH_MAX = 64;
const PART = new RegExp(`^.{3,${PART_LENGTH_MAX}}`, 'su');

/** What the words must hold, in the language of FTS5 (sqlite.org/fts5.html, sections 3 and 4.3.4). */
function trigramsOf(needles: Needles | undefined): string | undefined {
  const parts = [...(needles?.words ?? []), ...(needles?.hints ?? [])]
    .map((part) => PART.exec(part)?.[0])
    .filter((part) => part !== undefined)
    .slice(0, PARTS_MAX);
  return parts.length === 0
    ? undefined
    : parts.map((part) => `"${part.replaceAll('"', '""')}"`).join(' AND ');
}

/** Whether they hold all that is asked for. */
function isWhole({ words, hints }: Needles): boolean {
  return (
    hints.length === 0 && words.length <= PARTS_MAX && words.every(({ length }) => length <= PART_LENGTH_MAX)
  );
}
