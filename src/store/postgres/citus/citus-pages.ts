import { ID_MAX } from '../../../book/book.ts';
import type { Book } from '../../../book/contract.ts';
import { BOOK_COLUMNS, HAS_EXACT_ID, idsOf } from '../book-columns.ts';
import type { ColumnsRow, Query } from '../pages.ts';
import type { Statement } from '../pool/database.ts';

/** For pages that are read one after another: a statement on all shards costs as much as reading thousands of books. */
export const LONG_PAGE_BOOKS = 2_500;

const SELECT_WINDOW: Statement = {
  name: 'list window',
  text: `select ${BOOK_COLUMNS} from books where id > $1 and id <= $2 and ${HAS_EXACT_ID} order by id limit $3`,
};

/**
 * Reads pages of the list within a range of ids that contains a page, estimated by the last one: without it, every shard returns
 * as many books as the page has.
 */
export class CitusPages {
  readonly #query: Query;
  /** The ids that are read for each book of a page: 2.6 where every second id has a book. */
  #idsPerBook = 1.3;

  constructor(query: Query) {
    this.#query = query;
  }

  /** @returns a row of `SELECT_PAGE` */
  async read(after: number, limit: number): Promise<ColumnsRow> {
    const start = Math.max(after, 0);
    const oneMore = limit + 1;
    const readTo = (end: number) => this.#query<Book>(SELECT_WINDOW, [after, end, oneMore]);
    const within = await readTo(start + Math.ceil(this.#idsPerBook * oneMore));
    const found = within.length < oneMore ? await readTo(ID_MAX) : within;
    const next = found.at(limit);
    // Three tenths more than this page had, as random ids deviate from the average.
    if (next) this.#idsPerBook = (1.3 * (next.id - start)) / oneMore;
    const books = found.slice(0, limit);
    return {
      more: next !== undefined,
      last: books.at(-1)?.id ?? null,
      ids: idsOf(books),
      titles: books.map(({ title }) => title),
      authors: books.map(({ author }) => author),
      years: books.map(({ year }) => year),
    };
  }
}
