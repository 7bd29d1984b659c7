import { type Book, ID_MAX } from '../../../book/book.ts';
import type { ColumnsRow, Query } from '../pages.ts';
import { BOOK_COLUMNS, HAS_EXACT_ID, idsOf, type Statement } from '../sql.ts';

/** For pages that are read one after another: a statement on all shards costs as much as reading thousands of books. */
export const LONG_PAGE_BOOKS = 2_500;

const SELECT_WINDOW: Statement = {
  name: 'list window',
  text: `select ${BOOK_COLUMNS} from books where id > $1 and id <= $2 and ${HAS_EXACT_ID} order by id limit $3`,
};

/** Reads pages of the list. */
export class CitusPages {
  readonly #query: Query;
  readonly #window = new Window();

  constructor(query: Query) {
    this.#query = query;
  }

  /** @returns a row of `SELECT_PAGE` */
  async read(after: number, limit: number): Promise<ColumnsRow> {
    const oneMore = limit + 1;
    const found = await this.#window.read(Math.max(after, 0), oneMore, (end) =>
      this.#query<Book>(SELECT_WINDOW, [after, end, oneMore]),
    );
    const books = found.slice(0, limit);
    return {
      more: found.length > limit,
      last: books.at(-1)?.id ?? null,
      ids: idsOf(books),
      titles: books.map(({ title }) => title),
      authors: books.map(({ author }) => author),
      years: books.map(({ year }) => year),
    };
  }
}

/**
 * A range of ids that contains a page, estimated by the last one: without it, every shard returns as many books as the
 * page has.
 */
export class Window {
  /** The ids that are read for each book of a page: 2.6 where every second id has a book. */
  #idsPerBook = 1.3;

  /** @param read reads the first books up to an id, at most `limit` */
  async read<Row extends { readonly id: number }>(
    start: number,
    limit: number,
    read: (end: number) => Promise<Row[]>,
  ): Promise<Row[]> {
    const within = await read(start + Math.ceil(this.#idsPerBook * limit));
    const rows = within.length < limit ? await read(ID_MAX) : within;
    const last = rows.at(-1);
    // Three tenths more than the last page had, as random ids deviate from the average.
    if (last && rows.length === limit) this.#idsPerBook = (1.3 * (last.id - start)) / limit;
    return rows;
  }
}
