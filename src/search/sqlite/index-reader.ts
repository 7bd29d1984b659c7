import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { faultOfFollower, type LogPosition } from '../../changes/log-position.ts';
import { type PlaceRow, SELECT_LAST, selectPlace, toPlace } from '../../changes/sqlite/change-log.ts';
import { isBusy, isNotOpened } from '../../store/sqlite/errors.ts';
import { isInSchema } from '../../store/sqlite/migrations.ts';
import { prepareOnce } from '../../store/sqlite/prepared.ts';
import { IndexFile } from './index-file.ts';
import { type IndexState, SELECT_STATE, VERSION } from './schema.ts';

/** Less memory for the pages of the index takes twice the time for searches among a million books. */
const CACHE_KIB = 64 * 1_024;

/** The index does not have the change `target`, or there is no log yet. */
export class BehindTarget extends Error {
  readonly target: LogPosition | undefined;

  constructor(target: LogPosition | undefined) {
    super();
    this.target = target;
  }
}

/**
 * Opens snapshots of the index for searches. The index has all that a search shows, so a page is of the moment of one change: the
 * one of the cursor, which is not before the last one when the search arrived.
 */
export class IndexReader {
  readonly #store: DatabaseSync;
  #file: IndexFile | undefined;
  #selectState: StatementSync | undefined;

  constructor(store: DatabaseSync) {
    this.#store = store;
  }

  /**
   * Begins a transaction on the index.
   *
   * @param target the last change that the search must see; undefined for the last one that there is
   * @throws BehindTarget, UnusableIndex, or errors of SQLite
   */
  begin(target: LogPosition | undefined): DatabaseSync {
    try {
      return this.#begin(target);
    } catch (error) {
      // After a crash, the first process that opens the file puts its WAL right. A damaged index may be deleted while it is opened here;
      // if it cannot be opened at all, the step that the search waits for says why.
      throw isBusy(error) || isNotOpened(error) ? new BehindTarget(target) : error;
    }
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#selectState = undefined;
  }

  #begin(target: LogPosition | undefined): DatabaseSync {
    if (this.#file?.isReplaced) this.close();
    this.#file ??= IndexFile.openIfAny(this.#store, CACHE_KIB);
    if (!this.#isCreated(this.#file)) throw new BehindTarget(target);
    const { database } = this.#file;
    this.#selectState ??= database.prepare(SELECT_STATE);
    database.exec('begin');
    try {
      this.#expectCurrent(this.#selectState.get() as unknown as IndexState | undefined, target);
      return database;
    } catch (error) {
      database.exec('rollback');
      throw error;
    }
  }

  /** Whether there are an index and a log, perhaps empty ones. */
  #isCreated(file: IndexFile | undefined): file is IndexFile {
    if (!file || this.#selectState) return file !== undefined;
    return isInSchema(file.database, 'state') && isInSchema(this.#store, 'book_history');
  }

  #expectCurrent(state: IndexState | undefined, target: LogPosition | undefined): void {
    const last = this.#prepare(SELECT_LAST).get() as unknown as LogPosition;
    // The log may have become another one since the search arrived.
    const seen = target && this.#isInLog(target) ? target : last;
    const isCurrent =
      state?.version === VERSION &&
      state.isComplete === 1 &&
      state.position >= seen.position &&
      this.#isInLog(state);
    if (!isCurrent) throw new BehindTarget(seen);
  }

  #isInLog(position: LogPosition): boolean {
    const row = this.#prepare(selectPlace('?')).get(position.position) as unknown as PlaceRow;
    return faultOfFollower(position, toPlace(row)) === undefined;
  }

  #prepare(sql: string): StatementSync {
    return prepareOnce(this.#store, sql);
  }
}
