import { tryAgain } from './attempts.ts';
import { isNotOffered, isPreparedStatementRefused, toStoreError } from './errors.ts';
import type { ConnectionPool } from './pool.ts';
import { passUsedIds } from './schema.ts';
import type { Statement } from './sql.ts';

/** A database, as its statements see it: some connection takes each of them, as a transaction of its own. */
export class Database {
  readonly #pool: ConnectionPool;
  /** Prepared statements halve what a trip costs the server, but not every pooler of connections knows them. */
  #isPreparing = true;
  /** Rows are locked in an order where that is known; engines that are distributed refuse some ways to. */
  #isLocking = true;

  constructor(pool: ConnectionPool) {
    this.#pool = pool;
  }

  /** @throws StoreUnavailable when the server cannot be reached or cannot take it; else what the driver throws */
  async query<Row extends object>(statement: Statement, values: unknown[]): Promise<Row[]> {
    try {
      return await tryAgain(
        async () => {
          const { rows } = await this.#pool.query<Row>({ ...this.#spell(statement), values });
          return rows;
        },
        (error) => this.#isWorthAnother(error, statement),
      );
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Whether nothing has happened, and there may be more luck the next time. */
  #isWorthAnother(error: unknown, { withoutLocks }: Statement): boolean {
    if (this.#pool.mayTryAgain(error)) return true;
    if (this.#isPreparing && isPreparedStatementRefused(error)) this.#isPreparing = false;
    else if (this.#isLocking && withoutLocks !== undefined && isNotOffered(error)) this.#isLocking = false;
    else return false;
    return true;
  }

  /** How a statement is sent to this server. */
  #spell({ name, text, withoutLocks }: Statement): { name?: string; text: string } {
    if (this.#isLocking || withoutLocks === undefined) return this.#isPreparing ? { name, text } : { text };
    return this.#isPreparing ? { name: `${name} without locks`, text: withoutLocks } : { text: withoutLocks };
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
