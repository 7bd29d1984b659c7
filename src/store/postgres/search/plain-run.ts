import type { BookCount, BookPosition, BookQuery } from '../../../book/book.ts';
import { isMatch, type Needles, needlesOf } from '../../search/folding.ts';
import { type Candidate, callDeadline, PageBuilder } from '../../search/page-builder.ts';
import type { Look, Rows } from './search-run.ts';
import { behind, candidate, orderOf, Parameters, UNINDEXED, yearsOf } from './search-sql.ts';

/** How many books are folded at a time in the thread that serves, where there is no index. */
const UNINDEXED_WINDOW_BOOKS = 250;

/** The most bytes of text that are read for that, but for a single book. */
const UNINDEXED_WINDOW_BYTES = 1_024 * 1_024;

/** A call of a search in the books themselves, whose texts are folded here. */
export class PlainLook implements Look {
  readonly rows: Rows;
  readonly #query: BookQuery;
  readonly #needles: Needles | undefined;

  constructor(query: BookQuery, rows: Rows) {
    this.rows = rows;
    this.#query = query;
    this.#needles = needlesOf(query);
  }

  async find(limit: number, after: BookPosition | undefined): Promise<PageBuilder> {
    const page = new PageBuilder(limit, after);
    for (;;) {
      const { books, isEnd } = await this.#window(
        this.#query,
        page.last,
        this.#needles ? UNINDEXED_WINDOW_BOOKS : page.limit + 1,
      );
      for (const book of books) {
        if (!this.#isMatch(book)) page.last = { key: book.key, id: book.id };
        else if (!page.add(book)) return page;
      }
      if (isEnd) {
        page.end();
        return page;
      }
      if (page.last && !page.skipTo(page.last)) return page;
    }
  }

  async count(after: BookPosition | undefined): Promise<BookCount> {
    if (!this.#needles && !after) return { count: await this.#countYears(), last: undefined };
    const byId: BookQuery = { ...this.#query, sort: 'id', isDescending: false };
    const deadline = callDeadline();
    let [count, last] = [0, after];
    for (;;) {
      const { books, isEnd } = await this.#window(byId, last, UNINDEXED_WINDOW_BOOKS);
      count += books.filter((book) => this.#isMatch(book)).length;
      if (isEnd) return { count, last: undefined };
      last = books.at(-1);
      if (performance.now() > deadline) return { count, last };
    }
  }

  async #countYears(): Promise<number> {
    const parameters = new Parameters();
    const years = yearsOf(this.#query, parameters);
    const [row] = await this.rows(
      `select count(*) as count from ${UNINDEXED} where ${years}`,
      parameters.values,
    );
    return Number(row?.count);
  }

  #isMatch({ title, author }: PlainBook): boolean {
    return isMatch(this.#needles, title, author);
  }

  /** The next books in an order, as many as may be in memory. */
  async #window(
    query: BookQuery,
    place: BookPosition | undefined,
    size: number,
  ): Promise<{ books: PlainBook[]; isEnd: boolean }> {
    const parameters = new Parameters();
    const condition = `${behind(query, place, parameters)} and ${yearsOf(query, parameters)}`;
    const order = orderOf(query);
    const rows = await this.rows(
      `select * from (
         select *, count(*) over () as looked, row_number() over ahead as number, sum(bytes) over ahead as total
         from (
           select ${candidate(query)}, title, author, year, title_key, author_key from ${UNINDEXED}
           where ${condition} order by ${order} limit ${size}
         ) as looked_at
         window ahead as (order by ${order} rows unbounded preceding)
       ) as counted
       where number = 1 or total <= ${UNINDEXED_WINDOW_BYTES} order by number`,
      parameters.values,
    );
    const looked = Number(rows[0]?.looked ?? 0);
    return {
      books: rows as unknown as PlainBook[],
      isEnd: looked < size && rows.length === looked,
    };
  }
}

interface PlainBook extends Candidate {
  readonly title: string;
  readonly author: string;
}
