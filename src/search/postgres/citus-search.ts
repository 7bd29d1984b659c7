import type { Book } from '../../book/book.ts';
import { RENDER_SHARDS } from '../../store/postgres/citus/citus-database.ts';
import { Window } from '../../store/postgres/citus/citus-pages.ts';
import { exact, HAS_EXACT_ID, TEXT_BYTES } from '../../store/postgres/sql.ts';
import type { BookPosition, BookQuery } from '../book-search.ts';
import { afterCondition, fieldCondition, matchColumns, orderOf } from '../conditions.ts';
import type { Match, Scan, ScannedBooks } from '../engine.ts';
import { COMPARED_LENGTH } from '../folding.ts';
import { Parameters } from '../parameters.ts';
import { PostgresSnapshot } from './engine.ts';

/** The most books that a statement reads; by year, each statement sorts all books. */
const SCANNED_BOOKS = { byId: 5_000, sorted: 10_000 };

/** One for all searches, as they read the same ids. */
const window = new Window();

/** Searches without an index. Each server has a snapshot of its own (Citus 11.2 and later; before, each of its statements). */
export class CitusSnapshot extends PostgresSnapshot {
  override async nextBooks(
    query: BookQuery,
    after: BookPosition | undefined,
    { limit: given, hasTexts }: Scan,
  ): Promise<ScannedBooks> {
    const isById = query.sort === 'id';
    const limit = given ?? (isById ? SCANNED_BOOKS.byId : SCANNED_BOOKS.sorted);
    const read = (end?: number) => this.#read(query, after, { limit, hasTexts }, end);
    const isAscending = isById && !query.isDescending;
    const rows = await (isAscending ? window.read(after?.id ?? 0, limit, read) : read());
    return { books: rows, isEnd: rows.length < limit };
  }

  async #read(
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
    return (await this.rows(text, parameters)) as unknown as ScannedBook[];
  }

  protected override readonly renderStatement = RENDER_SHARDS.text;
}

type ScannedBook = Match & Pick<Book, 'title' | 'author'>;

const BOOKS_TO_SCAN = `(
  select id, left(coalesce(title, ''), ${COMPARED_LENGTH}) as title, left(coalesce(author, ''), ${COMPARED_LENGTH}) as author,
    ${exact('year')} as year, ${TEXT_BYTES} as bytes
  from books where ${HAS_EXACT_ID}
) as books_to_scan`;
