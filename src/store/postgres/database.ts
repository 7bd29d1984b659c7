import { setTimeout as sleep } from 'node:timers/promises';
import { isLostToOthers, isPreparedStatementRefused, toStoreError } from './errors.ts';
import type { ConnectionPool } from './pool.ts';
import { passUsedIds } from './schema.ts';
import type { Statement } from './sql.ts';

/** How often a statement is sent that loses against concurrent transactions. */
const ATTEMPTS_MAX = 5;

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
    for (let attempt = 1; ; attempt++) {
      try {
        const { rows } = await this.#pool.query<Row>(
          this.#isPreparing ? { name, text, values } : { text, values },
        );
        return rows;
      } catch (error) {
        const isRefused = this.#isPreparing && isPreparedStatementRefused(error);
        if (isRefused) this.#isPreparing = false;
        else if (!this.#mayTryAgain(error) || attempt >= ATTEMPTS_MAX) throw toStoreError(error);
        else await sleep(Math.random() * 10 * attempt);
      }
    }
  }

  /** Whether nothing has happened, and there may be more luck the next time. */
  #mayTryAgain(error: unknown): boolean {
    return isLostToOthers(error) || this.#pool.mayTryAgain(error);
  }

  /** See {@link passUsedIds}. @throws StoreUnavailable when the server cannot be reached */
  async passUsedIds(): Promise<void> {
    try {
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
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Waits for the statements under way, and closes all connections. */
  async close(): Promise<void> {
    await this.#pool.end();
  }
}

/** The loss of a connection shows in its query, too. */
function ignoreLoss(): void {}
