import type { BookPosition, BookQuery } from '../../../book/book-store-interface.ts';
import {
  afterCondition,
  fieldCondition,
  matchColumns,
  orderOf,
  Parameters,
} from '../../search/conditions.ts';
import type { Match, Scan, ScannedBooks } from '../../search/engine-interface.ts';
import { toStoreError } from '../errors.ts';
import type { Database } from '../pool/database.ts';
import { PostgresSearchEngine } from '../search/search-engine.ts';
import type { SearchIndex } from '../search/search-index.ts';
import { TEXT_BYTES } from '../sql.ts';
import { type ReadBook, readLongTexts, SHORT_TEXTS, Window } from './citus-pages.ts';

/**
 * The most books that a statement reads, and the most bytes of their text. By year, each statement
 * sorts all books.
 */
const SCANNED_BOOKS = { byId: 5_000, sorted: 10_000 };
const SCANNED_BYTES = 8 * 1_024 * 1_024;

/** Searches without an index: Citus has no triggers that could record its changes. */
export class CitusSearchEngine extends PostgresSearchEngine {
  readonly #database: Database;
  readonly #window = new Window();

  constructor(database: Database, index: SearchIndex) {
    super(database, index);
    this.#database = database;
  }

  override async run<Result>(_: boolean, search: (isIndexed: boolean) => Promise<Result>): Promise<Result> {
    try {
      return await search(false);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  override async nextBooks(
    query: BookQuery,
    after: BookPosition | undefined,
    { limit: given, hasTexts }: Scan,
  ): Promise<ScannedBooks> {
    const isById = query.sort === 'id';
    const limit = given ?? (isById ? SCANNED_BOOKS.byId : SCANNED_BOOKS.sorted);
    const read = (end?: number) => this.#read(query, after, { limit, hasTexts }, end);
    const isAscending = isById && !query.isDescending;
    const rows = await (isAscending ? this.#window.read(after?.id ?? 0, limit, read) : read());

    let room = SCANNED_BYTES;
    const fitting = rows.filter(({ bytes }, index) => {
      room -= bytes;
      return !hasTexts || room >= 0 || index === 0;
    });
    const isEnd = rows.length < limit && fitting.length === rows.length;
    const filled = await readLongTexts(fitting, (statement, values) =>
      this.#database.query(statement, values),
    );
    return {
      books: filled.map((book) => ({ ...book, title: book.title ?? '', author: book.author ?? '' })),
      isEnd,
    };
  }

  #read(
    query: BookQuery,
    after: BookPosition | undefined,
    { limit, hasTexts }: Scan,
    end?: number,
  ): Promise<ScannedBook[]> {
    const parameters = new Parameters('$');
    const conditions = [afterCondition(query, after)(parameters), fieldCondition(query, parameters)];
    if (end !== undefined) conditions.push(`id <= ${parameters.add(end)}`);
    const text = `
      select ${matchColumns(query)}, ${hasTexts ? 'title, author' : `'' as title, '' as author`} from ${BOOKS_TO_SCAN}
      where ${conditions.join(' and ')} order by ${orderOf(query)} limit ${limit}`;
    return this.#database.query<ScannedBook>({ text }, parameters.values);
  }
}

type ScannedBook = Match & Pick<ReadBook, 'title' | 'author'>;

const BOOKS_TO_SCAN = `(
  select id, ${SHORT_TEXTS}, coalesce(year, 0) as year, ${TEXT_BYTES} as bytes from books
) as books_to_scan`;
