import type { BookCount, BookPosition, BookQuery, SearchPage } from '../../../book/book.ts';
import { isUnfiltered } from '../../search/page-builder.ts';
import { toStoreError } from '../errors.ts';
import type { ConnectionPool } from '../pool/pool.ts';
import { retry } from '../pool/retry.ts';
import { IndexedLook } from './indexed-run.ts';
import { PlainLook } from './plain-run.ts';
import type { SearchIndex } from './search-index.ts';
import type { Look, Row } from './search-run.ts';
import { RENDER } from './search-sql.ts';

/**
 * Searches, on connections of their own. The index is behind the books: it catches up before a search, so that this
 * sees every write that was answered before. While there is too much to catch up with, and where the server allows no
 * index, the books themselves are looked through.
 */
export class Searcher {
  readonly #pool: ConnectionPool;
  readonly #index: SearchIndex;

  constructor(pool: ConnectionPool, index: SearchIndex) {
    this.#pool = pool;
    this.#index = index;
  }

  /** See {@link BookStore.search}. */
  async search(query: BookQuery, limit: number, after?: BookPosition): Promise<SearchPage> {
    return this.#look(query, async (look) => {
      const { ids, last, more } = await look.find(limit, after);
      // A book that has gone since the index was kept up is left out.
      const [row] = ids.length === 0 ? [] : await look.rows(RENDER, [ids]);
      return {
        json: Buffer.from((row?.json as string | null | undefined) ?? ''),
        count: Number(row?.count ?? 0),
        last,
        more,
      };
    });
  }

  /** See {@link BookStore.count}. */
  async count(query: BookQuery, after?: BookPosition): Promise<BookCount> {
    return this.#look(query, (look) => look.count(after));
  }

  async close(): Promise<void> {
    await this.#index.close();
    await this.#pool.end();
  }

  async #look<Result>(query: BookQuery, run: (look: Look) => Promise<Result>): Promise<Result> {
    try {
      const isIndexed = !isUnfiltered(query) && (await this.#index.catchUp());
      const rows = async (text: string, values: unknown[]) =>
        (
          await retry(
            () => this.#pool.query<Row>(text, values),
            (error) => this.#pool.isRetryable(error),
          )
        ).rows;
      return await run(isIndexed ? new IndexedLook(query, rows) : new PlainLook(query, rows));
    } catch (error) {
      throw toStoreError(error);
    }
  }
}
