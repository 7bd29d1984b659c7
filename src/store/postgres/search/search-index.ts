import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { StoreUnavailable } from '../../../book/book-store-interface.ts';
import type { DegradablePart, FailureCause } from '../../observer.ts';
import { isReadOnly, isUnsupported, reasonOf, sqlState, toStoreError } from '../errors.ts';
import { OptionalFeature } from '../pool/optional-feature.ts';
import { type ConnectionPool, retry } from '../pool/pool.ts';
import { applyChanges } from './apply-changes.ts';
import { prepareIndex, selectState, VersionMismatch } from './search-schema.ts';

/** The longest time that a search waits for the index; after it the search runs without. */
const SEARCH_WAITS_MS = 100;
/** The time for the transaction that runs when the store is closed. */
const CLOSE_WAITS_MS = 1_000;
/** The pause between transactions in the background, for other users of the database. */
const PAUSE_MS = 5;

/** A busy server may permit an index later, and another process may create it at the same time. */
const TEMPORARY = /^(08|25006|40|53|57|XX|23505|42P07|42710|42723)/;

/** The search index of a database, which several processes update. */
export class SearchIndex {
  readonly #searchPool: ConnectionPool;
  readonly #pool: ConnectionPool;
  readonly #availability = new OptionalFeature();
  readonly #part: DegradablePart;
  #preparing: Promise<boolean> | undefined;
  #applying: Promise<boolean> | undefined;
  /** The connection of the transaction that runs. */
  #client: PoolClient | undefined;
  #isClosed = false;

  /**
   * @param searchPool the connections of the searches, which give up a lost server in time
   * @param pool those that update the index
   */
  constructor(searchPool: ConnectionPool, pool: ConnectionPool, part: DegradablePart) {
    this.#searchPool = searchPool;
    this.#pool = pool;
    this.#part = part;
  }

  /** Updates the index, perhaps in the background. @returns whether it has every change that was committed before this call */
  async catchUp(): Promise<boolean> {
    if (!this.#availability.isEnabled) return false;
    this.#preparing ??= this.#prepare();
    if (!(await this.#preparing)) return false;
    try {
      const isBusy = this.#applying !== undefined;
      const isUpToDate = !isBusy && ((await this.#isUpToDate()) || (await this.#applyInTime()));
      if (isUpToDate) this.#part.failure = undefined;
      return isUpToDate;
    } catch (error) {
      if (isUnsupported(error)) return this.#disable(reasonOf(error));
      if (!isReadOnly(error) && !(error instanceof VersionMismatch)) throw error;
      this.#part.failure = causeOf(error);
      return false;
    }
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

  async #isUpToDate(): Promise<boolean> {
    const { isComplete, hasIndexes } = await retry(() => selectState(this.#searchPool));
    return isComplete && hasIndexes;
  }

  /** Creates or migrates the index. @returns whether it can be used */
  async #prepare(): Promise<boolean> {
    try {
      return (
        (await prepareIndex(this.#searchPool, (run) => this.#transact(run))) || this.#disable('no table')
      );
    } catch (error) {
      const state = sqlState(error);
      if (state !== undefined && !TEMPORARY.test(state)) return this.#disable(reasonOf(error));
      this.#preparing = undefined;
      this.#part.failure = causeOf(error);
      if (state === undefined) throw toStoreError(error);
      return false;
    }
  }

  #disable(reason: string): false {
    this.#part.failure = reason;
    this.#availability.disable();
    this.#preparing = undefined;
    return false;
  }

  /** @returns whether all changes were applied while a search waits; otherwise this continues in the background */
  async #applyInTime(): Promise<boolean> {
    if (this.#applying !== undefined) return false;
    this.#applying = this.#applyAll();
    return Promise.race([this.#applying, sleep(SEARCH_WAITS_MS, false, { ref: false })]);
  }

  /** @returns whether all changes were applied; false when closed */
  async #applyAll(): Promise<boolean> {
    try {
      while (!this.#isClosed) {
        if (await this.#transact(applyChanges)) return true;
        await sleep(PAUSE_MS);
      }
      return false;
    } catch (error) {
      this.#part.failure = causeOf(error);
      throw error;
    } finally {
      this.#applying = undefined;
    }
  }

  #transact<Result>(run: (client: PoolClient) => Promise<Result>): Promise<Result> {
    return retry(() =>
      this.#pool.withConnection(async (client) => {
        this.#client = client;
        await client.query('begin');
        const result = await run(client);
        await client.query('commit');
        return result;
      }),
    );
  }
}

/** A code of the server or of the connection; for defects, the error. */
function causeOf(error: unknown): FailureCause {
  if (error instanceof VersionMismatch) return 'another version';
  const isStoreError = sqlState(error) !== undefined || toStoreError(error) instanceof StoreUnavailable;
  return isStoreError || !(error instanceof Error) ? reasonOf(error) : error;
}
