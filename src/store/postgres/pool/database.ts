import type { QueryConfig } from 'pg';
import { isOutdatedPlan, isPreparedStatementRejected, toStoreError } from '../errors.ts';
import { advanceIdSequence } from '../schema.ts';
import type { BatchStatement, Columns, Statement } from '../sql.ts';
import { OptionalFeature } from './optional-feature.ts';
import { type ConnectionPool, isRetryable, retry } from './pool.ts';

/** Runs statements on a pool, each in its own transaction. */
export class Database {
  readonly #pool: ConnectionPool;
  /** Prepared statements halve the cost of a batch on the server; some connection poolers do not support them. */
  readonly #preparing = new OptionalFeature();
  /**
   * Part of the names: connections keep the statements that were prepared before the table was altered. After an `alter table`,
   * `find 0` is outdated on all of them, and `find 1` is prepared anew.
   */
  #generation = 0;

  constructor(pool: ConnectionPool) {
    this.#pool = pool;
  }

  /** @throws StoreUnavailable when the server cannot be reached or cannot run the statement; else what the driver throws */
  async query<Row extends object>(statement: Statement, values: unknown[]): Promise<Row[]> {
    let sent = this.#toQueryConfig(statement);
    try {
      return await retry(
        async () => {
          sent = this.#toQueryConfig(statement);
          const { rows } = await this.#pool.query<Row>({ ...sent, values });
          return rows;
        },
        (error) => this.#isRetryable(error, sent),
      );
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Runs a statement on the items of a batch. @throws like {@link query} */
  queryBatch<Row extends object>(statement: BatchStatement, columns: Columns): Promise<Row[]> {
    const { name, one } = statement;
    return columns[0]?.length === 1
      ? this.query({ name: `${name} one`, text: one }, columns.flat())
      : this.query(statement, [...columns]);
  }

  /** Whether the statement had no effect and a retry may succeed, perhaps unprepared. */
  #isRetryable(error: unknown, sent: QueryConfig): boolean {
    if (isRetryable(error)) return true;
    if (sent.name === undefined || !isPreparedStatementRejected(error)) return false;
    this.#preparing.disable();
    // A pooler that rejects `find 0` would also reject `find 1`, and keep both on its servers.
    if (isOutdatedPlan(error)) this.#generation++;
    return true;
  }

  #toQueryConfig({ name, text }: Statement): QueryConfig {
    return name !== undefined && this.#preparing.isEnabled
      ? { name: `${name} ${this.#generation}`, text }
      : { text };
  }

  /** See {@link advanceIdSequence}. @throws StoreUnavailable when the server cannot be reached */
  async advanceIdSequence(): Promise<void> {
    try {
      await retry(() => this.#pool.withConnection(advanceIdSequence));
    } catch (error) {
      throw toStoreError(error);
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}
