import { tryAgain } from './attempts.ts';
import { isLostToOthers, isPreparedStatementRefused, toStoreError } from './errors.ts';
import type { ConnectionPool } from './pool.ts';
import { passUsedIds } from './schema.ts';
import type { Statement } from './sql.ts';

/** A database, as its statements see it: some connection takes each of them, as a transaction of its own. */
export class Database {
  readonly #pool: ConnectionPool;
  /** Prepared statements halve what a trip costs the server, but not every pooler of connections knows them. */
  #isPreparing = true;

  constructor(pool: ConnectionPool) {
    this.#pool = pool;
  }

  /** @throws StoreUnavailable when the server cannot be reached or cannot take it; else what the driver throws */
  async query<Row extends object>({ name, text }: Statement, values: unknown[]): Promise<Row[]> {
    try {
      return await tryAgain(
        async () => {
          const query = this.#isPreparing ? { name, text, values } : { text, values };
          return (await this.#pool.query<Row>(query)).rows;
        },
        (error) => this.#isWorthAnother(error),
      );
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Whether nothing has happened, and there may be more luck the next time. */
  #isWorthAnother(error: unknown): boolean {
    if (isLostToOthers(error) || this.#pool.mayTryAgain(error)) return true;
    const isRefused = this.#isPreparing && isPreparedStatementRefused(error);
    if (isRefused) this.#isPreparing = false;
    return isRefused;
  }

  /** See {@link passUsedIds}. @throws StoreUnavailable when the server cannot be reached */
  async passUsedIds(): Promise<void> {
    try {
      await tryAgain(() => this.#passUsedIds());
    } catch (error) {
      throw toStoreError(error);
    }
  }

  async #passUsedIds(): Promise<void> {
    const client = await this.#pool.connect();
    // A connection that is lent out has no listener but ours.
    client.on('error', ignoreLoss);
    try {
      await passUsedIds(client);
      client.off('error', ignoreLoss).release();
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  /** Waits for the statements under way, and closes all connections. */
  async close(): Promise<void> {
    await this.#pool.end();
  }
}

/** The loss of a connection shows in its query, too. */
function ignoreLoss(): void {}
