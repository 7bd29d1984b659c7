import { type Book, ID_MAX } from '../../../book/book.ts';
import type { ColumnsRow, Query } from '../pages.ts';
import { BOOK_COLUMNS, HAS_EXACT_ID, idsOf, type Statement } from '../sql.ts';

/** The least books of a whole page: a statement on all shards costs as much as reading thousands of books. */
const PAGE_BOOKS_MIN = 2_500;

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

  /** @returns the row of `SELECT_PAGE`, of more books than a page has elsewhere */
  async read(after: number, limitElsewhere: number): Promise<ColumnsRow[]> {
    const limit = Math.max(limitElsewhere, PAGE_BOOKS_MIN);
    const books = await this.#window.read(Math.max(after, 0), limit, (end) =>
      this.#query<Book>(SELECT_WINDOW, [after, end, limit]),
    );
    return [
      {
        count: books.length,
        last: books.at(-1)?.id ?? 0,
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
