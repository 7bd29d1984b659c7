import type { DatabaseSync } from 'node:sqlite';
import type { LogPosition } from '../../changes/log-position.ts';
import { defineChangeLog, hasChangeLog, SELECT_LAST } from '../../changes/sqlite/change-log.ts';
import { prepareOnce } from '../../changes/sqlite/prepared.ts';
import { means } from '../../store/sqlite/error-codes.ts';
import { isBusy, isDamaged } from '../../store/sqlite/errors.ts';
import { transact } from '../../store/sqlite/files/transactions.ts';
import { isInSchema } from '../../store/sqlite/migrations.ts';
import type { Progress } from '../index-wait.ts';
import { applyChanges } from './apply-changes.ts';
import { IndexFile } from './index-file.ts';
import { type IndexState, isAltered, percentOf, SELECT_STATE, SELECT_VERSION, VERSION } from './schema.ts';

/** The longest step: other processes, and the end of this one, wait for it. */
const STEP_MS = 200;
/** Less memory for the pages of the index takes twice the time for searches among a million books. */
const CACHE_KIB = 64 * 1_024;
/** The shortest time until a damaged index is deleted again, as the disk or the books may be the cause. */
const DELETION_MS_MIN = 60_000;

/**
 * The search index of a store, which several processes keep up to date in steps: a follower of the log of changes whose cursor is in the
 * index. A step holds the lock of its writers, and begins with the state that the last one left. The index has no other memory of the
 * store.
 *
 * The index and the store are two files, and SQLite has no snapshot of both. A search needs one of each, of one moment: the index selects
 * books, of which the store has the texts. They are of one moment if the cursor of the index is that of the last change in the store. For
 * example, the index has the changes up to 6, and the store up to 7:
 *
 * 1. A step locks the index, begins a snapshot of the store, in which 7 is the last change, applies it to the index and commits.
 * 2. Another program commits change 8. The snapshot of the store goes on without it.
 * 3. The search begins a snapshot of the index. It has 7, too, unless another process has applied 8 meanwhile: then the search tries again.
 */
export class SearchIndex {
  readonly #store: DatabaseSync;
  #file: IndexFile | undefined;
  #deletedAt = -DELETION_MS_MIN;

  /** @param store a connection of its own, with a log of changes */
  private constructor(store: DatabaseSync) {
    this.#store = store;
  }

  /** Begins a log of ids if the store has no log. */
  static async open(store: DatabaseSync): Promise<SearchIndex> {
    if (!hasChangeLog(store))
      await transact(store, () => {
        // Another process may have begun one meanwhile.
        if (!hasChangeLog(store)) defineChangeLog(store, undefined);
      });
    return new SearchIndex(store);
  }

  /** Whether the index was complete after the last step of any process. */
  get isBuilt(): boolean {
    return this.#file !== undefined && !this.#file.isReplaced && this.#readState()?.isComplete === 1;
  }

  /** The index, after a step. */
  get database(): DatabaseSync {
    return (this.#file as IndexFile).database;
  }

  /**
   * Begins transactions on the store and on the index if these are of one moment, perhaps after a step.
   *
   * @returns whether they have begun; else how far the index is
   * @throws UnusableIndex, or errors of SQLite
   */
  begin(): Progress {
    return this.#report(() => {
      this.#open();
      this.#store.exec('begin');
      if (this.#beginIfCurrent()) return CURRENT;
      this.end();
      if (this.#step() && this.#beginIfCurrent()) return CURRENT;
      this.end();
      return { isCurrent: false, percent: this.#readPercent() };
    });
  }

  #beginIfCurrent(): boolean {
    this.database.exec('begin');
    return this.#isCurrent();
  }

  /** Ends the transactions. */
  end(): void {
    for (const database of [this.#store, this.#file?.database])
      if (database?.isOpen && database.isTransaction) database.exec('rollback');
  }

  /**
   * Deletes the index if an error shows that it is damaged, unless it did so soon before: the file is corrupt, or a statement or a
   * constraint fails, or has too little memory, because another program has altered the tables or what is in those of FTS5. Otherwise, the
   * statement is wrong, which a new index would not mend.
   *
   * @throws the error otherwise
   */
  deleteIfDamaged(error: unknown): Progress {
    const wasAltered = () => this.#file !== undefined && isAltered(this.database);
    if (!isDamaged(error) && !(means(error, 'no memory', 'statement', 'constraint') && wasAltered()))
      throw error;
    if (performance.now() < this.#deletedAt + DELETION_MS_MIN) throw error;
    this.#deletedAt = performance.now();
    if (this.#file) this.#file.delete();
    else IndexFile.deleteUnopened(this.#store);
    this.close();
    return { isCurrent: false, percent: 0, wasDamaged: true };
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  #report(run: () => Progress): Progress {
    try {
      return run();
    } catch (error) {
      this.end();
      if (isBusy(error)) return { isCurrent: false, percent: this.#readPercent() };
      return this.deleteIfDamaged(error);
    }
  }

  /** The transaction on the store goes on. @returns whether the index has all of it */
  #step(): boolean {
    const file = this.#open();
    const { database } = file;
    database.exec('begin immediate');
    // After the lock, so that the snapshot is not before the one of another process's last step.
    this.#store.exec('begin');
    try {
      if (this.#isCurrent()) return true;
      const { isComplete } = applyChanges(this.#store, database, this.#readState(), STEP_MS);
      database.exec('commit');
      file.checkpoint();
      return isComplete === 1;
    } finally {
      if (database.isTransaction) database.exec('rollback');
    }
  }

  #open(): IndexFile {
    if (this.#file?.isReplaced) this.close();
    this.#file ??= IndexFile.open(this.#store, CACHE_KIB);
    return this.#file;
  }

  /** Whether the index has the last change of the log. */
  #isCurrent(): boolean {
    const state = this.#readState();
    const last = prepareOnce(this.#store, SELECT_LAST).get() as unknown as LogPosition;
    return state?.isComplete === 1 && state.position === last.position && state.nonce === last.nonce;
  }

  /** @returns undefined when the index is new, or of another version */
  #readState(): IndexState | undefined {
    if (!isInSchema(this.database, 'state')) return undefined;
    // The other statements cannot be prepared for the tables of another version.
    if (prepareOnce(this.database, SELECT_VERSION).get()?.version !== VERSION) return undefined;
    return prepareOnce(this.database, SELECT_STATE).get() as unknown as IndexState;
  }

  #readPercent(): number {
    try {
      const state = this.#readState();
      return state ? percentOf(state) : 0;
    } catch {
      return 0;
    }
  }
}

export const CURRENT: Progress = { isCurrent: true, percent: 100 };
