import { isOutdatedPlan, isPreparedStatementRejected, isUnsupported, toStoreError } from '../errors.ts';
import { advanceIdSequence } from '../schema.ts';
import type { Statement } from '../sql.ts';
import { OptionalFeature } from './optional-feature.ts';
import type { ConnectionPool } from './pool.ts';
import { retry } from './retry.ts';

/** A database, as its statements see it: some connection takes each of them, as a transaction of its own. */
export class Database {
  readonly #pool: ConnectionPool;
  /** Prepared statements halve what a batch costs the server, but not every pooler of connections knows them. */
  readonly #preparing = new OptionalFeature();
  /** Part of their names: connections keep those that were prepared before the table was altered. */
  #generation = 0;
  /** Rows are locked in an order where that is known; engines that are distributed refuse some ways to. */
  readonly #locking = new OptionalFeature();

  constructor(pool: ConnectionPool) {
    this.#pool = pool;
  }

  /** @throws StoreUnavailable when the server cannot be reached or cannot take it; else what the driver throws */
  async query<Row extends object>(statement: Statement, values: unknown[]): Promise<Row[]> {
    let sent = this.#toQueryConfig(statement);
    try {
      return await retry(
        async () => {
          sent = this.#toQueryConfig(statement);
          const { rows } = await this.#pool.query<Row>({ ...sent, values });
          return rows;
        },
        (error) => this.#isRetryable(error, statement, sent),
      );
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Whether nothing has happened, and the next attempt may succeed: perhaps without what was refused. */
  #isRetryable(error: unknown, { text, withoutLocks }: Statement, sent: Sent): boolean {
    if (this.#pool.isRetryable(error)) return true;
    if (sent.name !== undefined && isPreparedStatementRejected(error)) {
      this.#preparing.disable();
      // Not after refusals by poolers: their servers would keep a copy of each generation.
      if (isOutdatedPlan(error)) this.#generation++;
      return true;
    }
    const isWithoutLocksNext = withoutLocks !== undefined && sent.text === text && isUnsupported(error);
    if (isWithoutLocksNext) this.#locking.disable();
    return isWithoutLocksNext;
  }

  /** How a statement is sent to this server at present. */
  #toQueryConfig({ name, text, withoutLocks }: Statement): Sent {
    const isLocking = withoutLocks === undefined || this.#locking.isEnabled;
    const sentText = isLocking ? text : withoutLocks;
    if (!this.#preparing.isEnabled) return { text: sentText };
    return { name: `${name}${isLocking ? '' : ' without locks'} ${this.#generation}`, text: sentText };
  }

  /** See {@link advanceIdSequence}. @throws StoreUnavailable when the server cannot be reached */
  async advanceIdSequence(): Promise<void> {
    try {
      await retry(() => this.#pool.withConnection(advanceIdSequence));
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Waits for the statements under way, and closes all connections. */
  async close(): Promise<void> {
    await this.#pool.end();
  }
}

/** A statement as it is sent: prepared under its name, if it has one. */
interface Sent {
  readonly name?: string;
  readonly text: string;
}
