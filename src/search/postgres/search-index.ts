import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { StoreUnavailable } from '../../book/book-store.ts';
import type { DegradablePart, FailureCause } from '../../store/observer.ts';
import { isSerializationFailure, reasonOf, sqlState, toStoreError } from '../../store/postgres/errors.ts';
import { OptionalFeature } from '../../store/postgres/pool/optional-feature.ts';
import { type ConnectionPool, retry } from '../../store/postgres/pool/pool.ts';
import { applyChanges } from './apply-changes.ts';
import * as schema from './schema.ts';

/** The longest time that a search waits for the index; after it the search runs without. */
const SEARCH_WAITS_MS = 100;
/** The longest time that it waits for other searches that apply changes: searching a large store without the index takes longer. */
const LOCK_WAITS_MS = 500;
/** The time for the transaction that runs when the store is closed. */
const CLOSE_WAITS_MS = 1_000;
/** The pause between transactions in the background, for other users of the database. */
const PAUSE_MS = 5;

/** A busy server may permit an index later, and another process may create it at the same time. */
const TEMPORARY = /^(08|25006|40|53|57|XX|23505|42P07|42710|42723)/;

/** Others apply changes, or create the indexes. */
const LOCK_TIMEOUT = '55P03';

/** The search index of a database, which several processes update. */
export class SearchIndex {
  readonly #searchPool: ConnectionPool;
  readonly #pool: ConnectionPool;
  readonly #availability = new OptionalFeature();
  readonly #part: DegradablePart;
  #preparing: Promise<boolean> | undefined;
  #applying: Promise<boolean> | undefined;
  /** The connection of the transaction in the background. */
  #client: PoolClient | undefined;
  #isClosed = false;

  /**
   * @param searchPool the connections of the searches, which give up a lost server in time
   * @param pool those that update the index in the background
   */
  constructor(searchPool: ConnectionPool, pool: ConnectionPool, part: DegradablePart) {
    this.#searchPool = searchPool;
    this.#pool = pool;
    this.#part = part;
  }

  /** Creates the index if there is none. @returns whether searches can use it */
  prepare(): Promise<boolean> {
    if (!this.#availability.isEnabled) return Promise.resolve(false);
    this.#preparing ??= this.#prepare();
    return this.#preparing;
  }

  /**
   * Begins a transaction on a snapshot in which the index has every change. A few missing changes are applied in it, so that no
   * other change comes in between; many are applied in the background.
   *
   * @returns whether it has begun; if not, the search runs without the index
   */
  async begin(client: PoolClient): Promise<boolean> {
    try {
      const isCurrent =
        (await this.#beginIfCurrent(client)) ||
        (await this.#beginApplying(client)) ||
        ((await this.#applyInTime()) && (await this.#beginApplying(client)));
      if (isCurrent) this.#part.report(undefined);
      return isCurrent;
    } catch (error) {
      const isExpected = error instanceof schema.UnusableIndex || sqlState(error) !== undefined;
      if (!isExpected || isSerializationFailure(error)) throw error;
      await client.query('rollback');
      if (sqlState(error) !== LOCK_TIMEOUT) this.reportFailure(error);
      return false;
    }
  }

  /** Searches run without the index for a time, unless the cause is known to end soon. */
  reportFailure(error: unknown): void {
    const state = sqlState(error);
    this.#part.report(causeOf(error));
    if (error instanceof schema.UnusableIndex || (state !== undefined && TEMPORARY.test(state))) return;
    this.#availability.disable();
    this.#preparing = undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const applying = this.#applying?.then(() => true).catch(() => true);
    const isDone = await Promise.race([applying, sleep(CLOSE_WAITS_MS, false, { ref: false })]);
    // Creating the indexes may take minutes; the next process starts it again.
    if (isDone === false) await this.#client?.end();
    await applying;
    await this.#pool.end();
  }

  /** Creates or migrates the index. @returns whether it can be used */
  async #prepare(): Promise<boolean> {
    try {
      const exists = await schema.prepareIndex(this.#searchPool, (migrate) => this.#transact(migrate));
      if (!exists) throw new schema.UnusableIndex('no table');
      return true;
    } catch (error) {
      this.#preparing = undefined;
      if (error instanceof schema.UnusableIndex) this.#availability.disable();
      this.reportFailure(error);
      if (sqlState(error) === undefined && !(error instanceof schema.UnusableIndex))
        throw toStoreError(error);
      return false;
    }
  }

  async #beginIfCurrent(client: PoolClient): Promise<boolean> {
    const { isComplete, hasIndexes } = await this.#begin(client, schema.BEGIN_SEARCH);
    if (isComplete && hasIndexes) return true;
    await client.query('rollback');
    return false;
  }

  /** Applies the missing changes in time, if the index was complete before. */
  async #beginApplying(client: PoolClient): Promise<boolean> {
    if (this.#applying !== undefined) return false;
    const { hasIndexes } = await this.#begin(client, schema.beginApplying(LOCK_WAITS_MS));
    const deadline = performance.now() + SEARCH_WAITS_MS;
    if (hasIndexes) {
      do if (await applyChanges(client)) return true;
      while (performance.now() < deadline);
    }
    await client.query('commit');
    return false;
  }

  /** Begins a transaction. @throws UnusableIndex when the index has another version */
  async #begin(client: PoolClient, begin: string): Promise<schema.IndexState> {
    const state = await schema.beginWithState(client, begin);
    if (state.age === 0) return state;
    // Of two versions the newer one replaces the index.
    if (state.age < 0) this.#preparing = undefined;
    throw new schema.UnusableIndex('another version');
  }

  /** @returns whether all changes were applied while a search waits; otherwise this continues in the background */
  async #applyInTime(): Promise<boolean> {
    this.#applying ??= this.#applyAll();
    return Promise.race([this.#applying, sleep(SEARCH_WAITS_MS, false, { ref: false })]);
  }

  /** @returns whether all changes were applied; false when closed */
  async #applyAll(): Promise<boolean> {
    try {
      for (let isDone = false; !isDone; await sleep(isDone ? 0 : PAUSE_MS)) {
        if (this.#isClosed) return false;
        isDone = await this.#transact(async (client) => {
          const { hasIndexes } = await this.#begin(client, schema.beginApplying(0));
          const hasAll = await applyChanges(client);
          if (hasAll && !hasIndexes) await schema.createIndexes(client);
          return hasAll;
        });
      }
      return true;
    } catch (error) {
      this.#part.report(causeOf(error));
      throw error;
    } finally {
      this.#applying = undefined;
    }
  }

  /** Runs a function that begins a transaction, and commits it. */
  #transact<Result>(run: (client: PoolClient) => Promise<Result>): Promise<Result> {
    return retry(() =>
      this.#pool.withConnection(async (client) => {
        this.#client = client;
        const result = await run(client);
        await client.query('commit');
        return result;
      }),
    );
  }
}

/** A code of the server or of the connection; for defects, the error. */
function causeOf(error: unknown): FailureCause {
  if (error instanceof schema.UnusableIndex) return error.message;
  const isStoreError = sqlState(error) !== undefined || toStoreError(error) instanceof StoreUnavailable;
  return isStoreError || !(error instanceof Error) ? reasonOf(error) : error;
}
