import { type BookCount, type BookPosition, type BookQuery, ID_MAX } from '../../book.ts';
import { type Candidate, Finding, hasYears, keyColumnOf } from '../finding.ts';
import { type Needles, needlesOf } from '../text.ts';
import type { Look, Row, Rows } from './look.ts';
import {
  behind,
  candidate,
  firstOf,
  INDEXED,
  orderOf,
  Parameters,
  type Range,
  rangesBehind,
  textsOf,
  yearsOf,
} from './search-sql.ts';
import { trigramsOf } from './trigrams.ts';

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

  constructor(query: BookQuery, rows: Rows) {
    this.rows = rows;
    this.#query = query;
    this.#needles = needlesOf(query);
  }

  async find(limit: number, after: BookPosition | undefined): Promise<Finding> {
    const finding = new Finding(limit, after);
    const few = await this.#few();
    if (few) await this.#gather(finding, few);
    else await this.#walk(finding);
    return finding;
  }

  /** Books are counted in the order of their ids, where not all of them can be counted at once. */
  async count(after: BookPosition | undefined): Promise<BookCount> {
    const few = after ? undefined : await this.#few();
    const parameters = new Parameters();
    if (few || !this.#needles) {
      const matches = few
        ? this.#matchesOf(few, parameters)
        : `from ${INDEXED} where ${this.#match(parameters)}`;
      const [row] = await this.rows(`select count(*) as count ${matches}`, parameters.values);
      return { count: Number(row?.count), last: undefined };
    }
    const from = parameters.add(after?.id ?? -ID_MAX - 1);
    const window = `select * from ${INDEXED} where id > ${from} order by id limit ${COUNT_BOOKS}`;
    const match = this.#match(parameters);
    const [row] = await this.rows(
      `select count(*) as looked, max(id) as last, count(*) filter (where ${match}) as count from (${window}) as books`,
      parameters.values,
    );
    const last = { key: Number(row?.last), id: Number(row?.last) };
    return { count: Number(row?.count), last: Number(row?.looked) < COUNT_BOOKS ? undefined : last };
  }

  /** The few books that can match at all, where an index tells that they are few. */
  async #few(): Promise<Few | undefined> {
    const ways: Few[] = [];
    const parts = [...(this.#needles?.words ?? []), ...(this.#needles?.hints ?? [])];
    const trigrams = new Set(
      parts.slice(0, PARTS_MAX).flatMap((part) => trigramsOf(part).slice(0, TRIGRAMS_MAX)),
    );
    if (trigrams.size > 0)
      ways.push((parameters) => `trigrams @> ${parameters.add([...trigrams])}::integer[]`);
    if (hasYears(this.#query)) ways.push((parameters) => yearsOf(this.#query, parameters));
    for (const way of ways) {
      const parameters = new Parameters();
      const candidates = `select 1 from ${INDEXED} where ${way(parameters)} limit ${FEW_BOOKS + 1}`;
      const [row] = await this.rows(
        `select count(*) as count from (${candidates}) as few`,
        parameters.values,
      );
      if (Number(row?.count) <= FEW_BOOKS) return way;
    }
    return undefined;
  }

  /** @returns whether the finding takes more */
  #takeAll(finding: Finding, rows: readonly Row[]): boolean {
    return rows.every((row) => finding.take(row as unknown as Candidate));
  }

  async #gather(finding: Finding, few: Few): Promise<void> {
    const parameters = new Parameters();
    const rows = await this.rows(
      `select ${candidate(this.#query)} ${this.#matchesOf(few, parameters)}
         and ${behind(this.#query, finding.last, parameters)}
       order by ${orderOf(this.#query)} limit ${finding.limit + 1}`,
      parameters.values,
    );
    if (this.#takeAll(finding, rows)) finding.end();
  }

  /** Goes through the books in the order of an index, by windows where some of them may not match. */
  async #walk(finding: Finding): Promise<void> {
    const isRange = !this.#needles && (this.#query.sort === 'year' || !hasYears(this.#query));
    let ranges = rangesBehind(this.#query, finding.last);
    for (let range = ranges.shift(); range; range = ranges.shift()) {
      const parameters = new Parameters();
      const condition = range(parameters);
      const books = isRange
        ? firstOf(this.#query, `${condition} and ${this.#match(parameters)}`, finding.limit + 1)
        : `select * from (${firstOf(this.#query, condition, WINDOW_BOOKS)}) as looked where ${this.#match(parameters)} limit ${finding.limit + 1}`;
      const rows = await this.rows(
        `select ${candidate(this.#query)} from (${books}) as books`,
        parameters.values,
      );
      if (!this.#takeAll(finding, rows)) return;
      const end = isRange ? undefined : await this.#endOfWindow(range);
      if (!end) continue;
      if (!finding.pass(end)) return;
      ranges = rangesBehind(this.#query, end);
    }
    finding.end();
  }

  async #endOfWindow(range: Range): Promise<BookPosition | undefined> {
    const parameters = new Parameters();
    const window = firstOf(this.#query, range(parameters), WINDOW_BOOKS);
    const [end] = await this.rows(
      `select id, ${keyColumnOf(this.#query.sort)} as key from (${window}) as looked limit 1 offset ${WINDOW_BOOKS - 1}`,
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
