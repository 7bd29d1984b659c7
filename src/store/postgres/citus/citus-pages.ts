import { ID_MAX } from '../../../book/book.ts';
import { PAGE_BOOKS_MAX } from '../../page.ts';
import type { ColumnsRow, Query } from '../pages.ts';
import { exact, HAS_EXACT_ID, idsOf, SHORT_BYTES, type Statement, TEXT_BYTES } from '../sql.ts';

/** The least books of a whole page: a statement on all shards costs as much as reading thousands of books. */
const PAGE_BOOKS_MIN = 2_500;

/** A book without its texts if they are long. */
export interface ReadBook {
  readonly id: number;
  readonly bytes: number;
  readonly title: string | null;
  readonly author: string | null;
  readonly year: number;
}

/** The texts that are short. */
export const SHORT_TEXTS = ['title', 'author']
  .map((column) => `case when ${TEXT_BYTES} <= ${SHORT_BYTES} then coalesce(${column}, '') end as ${column}`)
  .join(', ');

const SELECT_WINDOW: Statement = {
  name: 'list window',
  text: `
    select id, ${TEXT_BYTES} as bytes, ${SHORT_TEXTS}, ${exact('year')} as year
    from books where id > $1 and id <= $2 and ${HAS_EXACT_ID} order by id limit $3
  `,
};

/** Reads pages of the list. */
export class CitusPages {
  readonly #query: Query;
  readonly #window = new Window();

  constructor(query: Query) {
    this.#query = query;
  }

  /** @returns the row of `SELECT_PAGE`, of more books than a page has elsewhere */
  async read(after: number, limitElsewhere: number): Promise<ColumnsRow[]> {
    // A lower limit is of books with long texts.
    const limit = limitElsewhere < PAGE_BOOKS_MAX ? limitElsewhere : Math.max(limitElsewhere, PAGE_BOOKS_MIN);
    const books = await this.#window.read(Math.max(after, 0), limit, (end) =>
      this.#query<ReadBook>(SELECT_WINDOW, [after, end, limit]),
    );
    const bytes = books.reduce((sum, book) => sum + book.bytes, 0);
    return [
      {
        count: books.length,
        last: books.at(-1)?.id ?? 0,
        bytes,
        ids: idsOf(books),
        titles: books.map(({ title }) => title),
        authors: books.map(({ author }) => author),
        years: books.map(({ year }) => year),
      },
    ];
  }
}

/**
 * A range of ids that contains a page, estimated by the last one: without it, every shard returns as many books as the
 * page has.
 */
export class Window {
  #size = 1.3;

  /** @param read reads the first books up to an id, at most `limit` */
  async read<Row extends { readonly id: number }>(
    start: number,
    limit: number,
    read: (end: number) => Promise<Row[]>,
  ): Promise<Row[]> {
    const within = await read(start + Math.ceil(this.#size * limit));
    const rows = within.length < limit ? await read(ID_MAX) : within;
    const last = rows.at(-1);
    // Ids that are distributed at random deviate from the average.
    if (last && rows.length === limit) this.#size = (1.3 * (last.id - start)) / limit;
    return rows;
  }
}
