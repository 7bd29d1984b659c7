import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { StoreUnavailable } from '../../book/book-store.ts';
import { DueTimer } from '../../changes/due-timer.ts';
import type { DegradablePart } from '../../store/observer.ts';
import { means, sqlState } from '../../store/postgres/error-codes.ts';
import { causeOf, toStoreError } from '../../store/postgres/errors.ts';
import { OptionalFeature } from '../../store/postgres/pool/optional-feature.ts';
import { type ConnectionPool, retry } from '../../store/postgres/pool/pool.ts';
import { notUsable, type Progress, UnusableIndex } from '../index-wait.ts';
import { applyChanges, LONG_STEP } from './apply-changes.ts';
import * as schema from './schema.ts';

/** The longest time in which a search itself applies changes; after it this continues in the background. */
const SEARCH_APPLIES_MS = 100;
/** The longest time that it waits for other searches that apply changes. */
const LOCK_WAITS_MS = 500;
/** The number of changed books that a search leaves to the background. */
const MANY_CHANGES = 2_000;
/** The longest pause of a search that waits for the background. */
const SEARCH_PAUSE_MS = 100;
/** The longest time to find out how much of an index is created. */
const PROGRESS_WAITS_MS = 500;
/** The time for the transaction that runs when the store is closed. */
const CLOSE_WAITS_MS = 1_000;
/** The pause between transactions in the background, for other users of the database. */
const PAUSE_MS = 5;
/** The time from a write of this process until its changes are applied, with all writes in between: many at a time cost less. */
const WRITE_DELAY_MS = 200;
/** The interval at which changes of other programs are applied. */
const POLL_MS = 1_000;

/** The one phase of applying changes to an index that is not being built. */
const UPDATING: schema.Phase = { from: 0, to: 1 };

/** The connection, a busy server or another transaction are the cause. */
const TEMPORARY = /^(08|25006|40|53|57|XX)/;

/** The search index of a database, which several processes update. */
export class SearchIndex {
  readonly #searchPool: ConnectionPool;
  readonly #pool: ConnectionPool;
  readonly #availability = new OptionalFeature();
  readonly #part: DegradablePart;
  readonly #timer = new DueTimer(() => this.#apply());
  #failure: string | undefined;
  /** Pending or done; undefined before the first one, and where the next search has to repeat it. */
  #preparation: Promise<void> | undefined;
  #isPrepared = false;
  #applying: Promise<void> | undefined;
  /** The connection of the transaction in the background. */
  #client: PoolClient | undefined;
  #isClosed = false;
  /** The books that the background indexes. */
  #backlog = { done: 0, total: 0 };
  #phase = UPDATING;

  /**
   * @param searchPool the connections of the searches, which give up an unreachable server in time
   * @param pool those that update the index in the background
   */
  constructor(searchPool: ConnectionPool, pool: ConnectionPool, part: DegradablePart) {
    this.#searchPool = searchPool;
    this.#pool = pool;
    this.#part = part;
  }

  /** How much of its work the background has done; undefined if another process does it. */
  async readPercent(): Promise<Progress['percent']> {
    const { done, total } = this.#backlog;
    if (!this.#applying || total === 0) return undefined;
    const { from, to } = this.#phase;
    const part = from < schema.FILLING.to ? done / total : await this.#readCreated();
    return Math.min(99, Math.floor(100 * (from + (to - from) * part)));
  }

  /** 0 if the server does not answer at once: the search that asks fails anyway. */
  async #readCreated(): Promise<number> {
    const created = schema.readCreated(this.#pool).catch(() => 0);
    return Promise.race([created, sleep(PROGRESS_WAITS_MS, 0, { ref: false })]);
  }

  /** Whether the background applies changes. */
  get isApplying(): boolean {
    return this.#applying !== undefined;
  }

  /** The books that the background still has to index. */
  get #remaining(): number {
    return this.#applying ? this.#backlog.total - this.#backlog.done : 0;
  }

  /** Follows the index from now on if there is one. */
  async follow(): Promise<void> {
    try {
      if (!(await schema.hasIndex(this.#pool))) return;
      await this.prepare();
      this.#timer.callIn(0);
    } catch (error) {
      // The first search tries again.
      this.#part.report(causeOf(error));
    }
  }

  /** Tells that this process has written. Without an index, nothing is to be done. */
  written(): void {
    if (this.#preparation) this.#timer.callIn(WRITE_DELAY_MS);
  }

  /** Creates the index if there is none. @throws StoreUnavailable when searches cannot use it */
  async prepare(): Promise<void> {
    if (!this.#availability.isEnabled) throw notUsable(this.#failure ?? 'unknown');
    this.#preparation ??= this.#prepare();
    await this.#preparation;
  }

  /**
   * Begins a transaction on a snapshot in which the index has every change. A few missing changes are applied in it, so that no
   * other change comes in between; many are applied in the background.
   *
   * @returns whether it has begun one
   * @throws StoreUnavailable when the index cannot be used
   */
  async begin(client: PoolClient): Promise<boolean> {
    try {
      const isCurrent = (await this.#beginIfCurrent(client)) || (await this.#beginApplying(client));
      if (isCurrent) this.#part.report(undefined);
      return isCurrent;
    } catch (error) {
      // Otherwise, others apply changes, or create the indexes.
      if (!means(error, 'lock not available in time')) throw isOfIndex(error) ? this.fail(error) : error;
      await client.query('rollback');
      return false;
    }
  }

  /**
   * Begins it if the index is there, and has every change or lacks only a few.
   *
   * @returns whether it has begun one
   */
  async tryBegin(client: PoolClient): Promise<boolean> {
    if (!this.#isPrepared || !this.#availability.isEnabled) return false;
    try {
      return await this.begin(client);
    } catch {
      // What is wrong with the index was reported. A connection that is broken fails again.
      await client.query('rollback');
      return false;
    }
  }

  /** Waits until the background has applied all changes, or for a short time. */
  async wait(): Promise<void> {
    this.#apply();
    await Promise.race([this.#applying, sleep(SEARCH_PAUSE_MS, undefined, { ref: false })]);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer.close();
    const applying = this.#applying?.then(() => true);
    const isDone = await Promise.race([applying, sleep(CLOSE_WAITS_MS, false, { ref: false })]);
    // Creating the indexes may take minutes; the next process starts it again.
    if (isDone === false) await this.#client?.end();
    await applying;
    await this.#pool.end();
  }

  async #prepare(): Promise<void> {
    try {
      await schema.prepareIndex(
        (run) => retry(() => this.#searchPool.withConnection(run)),
        (run) => this.#transact(run),
      );
      this.#isPrepared = true;
      this.#timer.callIn(POLL_MS);
    } catch (error) {
      this.#preparation = undefined;
      throw isOfIndex(error) ? this.fail(error) : toStoreError(error);
    }
  }

  /** Searches do not try the index for a time. @returns what they reject with */
  fail(error: unknown): StoreUnavailable {
    this.#part.report(causeOf(error));
    this.#failure = error instanceof UnusableIndex ? error.reason : sqlState(error);
    this.#availability.disable();
    this.#preparation = undefined;
    return notUsable(this.#failure ?? 'unknown');
  }

  async #beginIfCurrent(client: PoolClient): Promise<boolean> {
    const state = await this.#begin(client, schema.BEGIN_SEARCH);
    if (!state) return false;
    if (state.isComplete && state.hasIndexes) return true;
    await client.query('rollback');
    return false;
  }

  /** Applies the missing changes in time, if the index was complete before. */
  async #beginApplying(client: PoolClient): Promise<boolean> {
    if (this.#remaining > MANY_CHANGES) return false;
    const state = await this.#begin(client, schema.beginApplying(LOCK_WAITS_MS));
    if (!state) return false;
    const deadline = performance.now() + SEARCH_APPLIES_MS;
    if (state.hasIndexes) {
      do if ((await applyChanges(client)).isDone) return true;
      while (performance.now() < deadline);
    }
    await client.query('commit');
    return false;
  }

  /**
   * Begins a transaction.
   *
   * @returns undefined, without one, if an older version has built the index: the next search replaces it
   * @throws UnusableIndex when a newer version has
   */
  async #begin(client: PoolClient, begin: string): Promise<schema.IndexState | undefined> {
    const state = await schema.beginWithState(client, begin);
    if (state.age === 0) return state;
    if (state.age > 0) throw new UnusableIndex('another version of the service has built the search index');
    this.#preparation = undefined;
    await client.query('rollback');
    return undefined;
  }

  #apply(): void {
    this.#timer.cancel();
    this.#applying ??= this.#applyAll();
  }

  /** Applies the changes until none is left. What fails is reported, and tried again. */
  async #applyAll(): Promise<void> {
    try {
      this.#backlog = { done: 0, total: 0 };
      let isDone = !(await schema.isBehind(this.#pool));
      let isVacuumed = false;
      while (!isDone && !this.#isClosed) {
        // An import goes on while its first books are indexed.
        if (this.#remaining <= 0) this.#backlog.total = this.#backlog.done + (await this.#prepareBacklog());
        const step = await this.#transact(async (client) => {
          const state = await this.#begin(client, schema.beginApplying(0));
          if (!state) return { hasAll: true, isComplete: true };
          const { hasIndexes } = state;
          this.#phase = hasIndexes ? UPDATING : schema.FILLING;
          const isLong = !hasIndexes || this.#remaining > MANY_CHANGES;
          const applied = await applyChanges(client, isLong ? LONG_STEP : undefined);
          this.#backlog.done += applied.count;
          const isComplete = applied.isDone && (hasIndexes || isVacuumed);
          if (isComplete && !hasIndexes)
            await schema.createIndexes(client, (phase) => {
              this.#phase = phase;
            });
          return { hasAll: applied.isDone, isComplete };
        });
        isDone = step.isComplete;
        if (step.hasAll && !isDone) {
          await this.#vacuum();
          isVacuumed = true;
        } else if (!isDone) await sleep(PAUSE_MS);
      }
      this.#part.report(undefined);
    } catch (error) {
      if (!this.#isClosed) this.#part.report(causeOf(error));
    } finally {
      this.#applying = undefined;
      if (this.#preparation) this.#timer.callIn(POLL_MS);
    }
  }

  /** @returns the number of the books whose changes are to be applied @throws UnusableIndex when it is the index of a newer version */
  #prepareBacklog(): Promise<number> {
    return this.#transact(async (client) =>
      (await this.#begin(client, schema.beginApplying(0))) ? schema.prepareBacklog(client) : 0,
    );
  }

  /** Prepares many books for their indexes; without that, these are slower. What fails is reported. */
  async #vacuum(): Promise<void> {
    if (this.#backlog.total <= MANY_CHANGES) return;
    try {
      await this.#pool.withConnection((client) => {
        this.#client = client;
        return schema.vacuum(client);
      });
    } catch (error) {
      if (!this.#isClosed) this.#part.report(causeOf(error));
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

/** Whether the tables of the index, or the rights to create them, are the cause. */
function isOfIndex(error: unknown): boolean {
  const state = sqlState(error);
  return error instanceof UnusableIndex || (state !== undefined && !TEMPORARY.test(state));
}
