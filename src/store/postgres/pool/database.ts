import type { QueryConfig } from 'pg';
import { means } from '../error-codes.ts';
import { toStoreError } from '../errors.ts';
import { advanceIdSequence } from '../id-sequence.ts';
import { OptionalFeature } from './optional-feature.ts';
import { type ConnectionPool, type MayRetry, retry } from './pool.ts';

/**
 * A statement on books. Its sessions plan without sequential scans, and without JIT (connection/session-settings.ts says why): the server
 * reads all rows only for what has no index to use. So a new statement needs an index for its condition.
 */
export interface Statement {
  /** The name of the prepared statement; without it the statement is not prepared. */
  readonly name?: string;
  readonly text: string;
}

/** A statement on the items of a batch, whose parameters are arrays, one for each column. */
export interface BatchStatement extends Statement {
  readonly name: string;
  /** The same for one item: its parameters are values, and it takes PostgreSQL half of the time. */
  readonly one: string;
}

/** The items of a batch: an array for each parameter. */
export type Columns = readonly (readonly unknown[])[];

/** Runs statements on a pool, each in its own transaction. What had no effect is retried here, and nowhere else below the batches. */
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

  /**
   * @param mayRetry for errors that only this statement may be retried after
   * @throws StoreUnavailable when the server cannot be reached or cannot run the statement; else what the driver throws
   */
  query<Row extends object>(statement: Statement, values: unknown[], mayRetry?: MayRetry): Promise<Row[]> {
    return retryInStore(() => this.attempt<Row>(statement, values), mayRetry);
  }

  /** Runs a statement on the items of a batch. @param mayRetry as for {@link query} @throws like {@link query} */
  queryBatch<Row extends object>(
    statement: BatchStatement,
    columns: Columns,
    mayRetry?: MayRetry,
  ): Promise<Row[]> {
    return retryInStore(() => this.attemptBatch<Row>(statement, columns), mayRetry);
  }

  /** Runs a statement once; unprepared, if the server or a pooler rejects that it is prepared. */
  protected async attempt<Row extends object>({ name, text }: Statement, values: unknown[]): Promise<Row[]> {
    if (name === undefined || !this.#preparing.isEnabled) return this.#send({ text, values });
    try {
      return await this.#send({ name: `${name} ${this.#generation}`, text, values });
    } catch (error) {
      if (!means(error, 'prepared statement rejected')) throw error;
      this.#preparing.disable();
      // A pooler that rejects `find 0` would also reject `find 1`, and keep both on its servers.
      if (means(error, 'outdated plan')) this.#generation++;
      return this.#send({ text, values });
    }
  }

  protected attemptBatch<Row extends object>(statement: BatchStatement, columns: Columns): Promise<Row[]> {
    const { name, one } = statement;
    return columns[0]?.length === 1
      ? this.attempt({ name: `${name} one`, text: one }, columns.flat())
      : this.attempt(statement, [...columns]);
  }

  async #send<Row extends object>(query: QueryConfig): Promise<Row[]> {
    return (await this.#pool.query<Row>(query)).rows;
  }

  /** See {@link advanceIdSequence}. @throws StoreUnavailable when the server cannot be reached */
  advanceIdSequence(): Promise<void> {
    return retryInStore(() => this.#pool.withConnection(advanceIdSequence));
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

/** @throws errors in terms of the BookStore interface */
async function retryInStore<Result>(attempt: () => Promise<Result>, mayRetry?: MayRetry): Promise<Result> {
  try {
    return await retry(attempt, mayRetry);
  } catch (error) {
    throw toStoreError(error);
  }
}
