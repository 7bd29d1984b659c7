import type { DatabaseSync } from 'node:sqlite';
import type { Book } from '../../book/contract.ts';
import {
  defineChangeLog,
  hasChangeLog,
  type PlaceRow,
  SELECT_LAST,
  selectPlace,
} from '../../changes/sqlite/change-log.ts';
import { BatchQueue } from '../../store/batch-queue.ts';
import type { SqliteConnection } from '../../store/engine.ts';
import { BATCH_LIMITS } from '../../store/limits.ts';
import type { StoreObserver } from '../../store/observer.ts';
import { causeOf, toNotReady, toStoreError } from '../../store/sqlite/errors.ts';
import { openWithoutCheckpoints } from '../../store/sqlite/files/connection.ts';
import { transact } from '../../store/sqlite/files/transactions.ts';
import { LazyThread } from '../../store/sqlite/threads/lazy-thread.ts';
import { isUndoneInThread } from '../../store/sqlite/threads/thread-messages.ts';
import type {
  BookHistory,
  ChangeCursor,
  ChangePage,
  ChangeRequest,
  CursorFault,
  RestoreFault,
  RestoreRequest,
} from '../book-history.ts';
import { notRecorded, READ_BATCHES, readOnce } from '../change-page.ts';
import { Maintenance } from '../maintenance.ts';
import { HAS_OLD, SELECT_BACKLOG } from './change-reader.ts';
import type { ChangeWrite, ChangeWriteResult } from './change-writes.ts';

/** @param days how long changes are kept; undefined to stop @throws StoreNotReady */
export async function openHistory(
  connection: SqliteConnection,
  days: number | undefined,
  observer: StoreObserver,
): Promise<BookHistory | undefined> {
  const { path } = connection;
  try {
    const database = await openWithoutCheckpoints(path);
    await transact(database, () => {
      if (days !== undefined || hasChangeLog(database)) defineChangeLog(database, days);
    });
    if (days !== undefined) return new SqliteHistory(connection, database, observer);
    database.close();
    return undefined;
  } catch (error) {
    throw toNotReady(error, path);
  }
}

const READ_THREAD = new URL('./read-thread.ts', import.meta.url);
const WRITES = new URL('./change-writes.ts', import.meta.url);

/** The most changes that a read of the changes of books scans, as the index by book does not have them yet. */
const SCANNED_MAX = 500;

/** A thread reads changes, and that of the store writes them; the main thread reads the position of the last one. */
class SqliteHistory implements BookHistory {
  readonly #store: SqliteConnection;
  /** The connection of the main thread. */
  readonly #database: DatabaseSync;
  /** Not the thread of the list, whose pages would wait for pages of changes. */
  readonly #readThread: LazyThread<ChangeRequest, ChangePage | CursorFault>;
  readonly #reads: BatchQueue<ChangeRequest, ChangePage | CursorFault>;
  readonly #restores: BatchQueue<RestoreRequest, readonly Book[] | RestoreFault>;
  readonly #maintenance: Maintenance;

  constructor(store: SqliteConnection, database: DatabaseSync, observer: StoreObserver) {
    this.#store = store;
    this.#database = database;
    this.#readThread = new LazyThread(READ_THREAD, store.path, 'history read thread', observer);
    const options = { ...BATCH_LIMITS, observer };
    const read = (request: ChangeRequest) => this.#readThread.send(request);
    this.#reads = new BatchQueue((requests) => readOnce(requests, read), { ...options, ...READ_BATCHES });
    this.#restores = new BatchQueue(async ([request]) => [await this.#restore(request as RestoreRequest)], {
      ...options,
      isUndone: isUndoneInThread,
      batchItemsMax: 1,
      name: 'restore',
    });
    this.#maintenance = new Maintenance(() => this.#maintain(), causeOf, observer);
  }

  async last(): Promise<ChangeCursor> {
    try {
      const row = this.#database.prepare(selectPlace('null')).get() as PlaceRow | undefined;
      if (typeof row?.days !== 'number') throw notRecorded();
      return this.#database.prepare(SELECT_LAST).get() as unknown as ChangeCursor;
    } catch (error) {
      throw toStoreError(error);
    }
  }

  async read(request: ChangeRequest, begin?: () => void): Promise<ChangePage | CursorFault> {
    if (typeof request.of === 'number' || request.of === 'deleted') await this.#indexAll();
    return this.#reads.add(request, begin);
  }

  restore(request: RestoreRequest): Promise<readonly Book[] | RestoreFault> {
    return this.#restores.add(request);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#reads.close(), this.#restores.close(), this.#maintenance.close()]);
    await this.#readThread.close();
    if (this.#database.isOpen) this.#database.close();
  }

  async #restore(request: RestoreRequest): Promise<readonly Book[] | RestoreFault> {
    return (await this.#write(request)) as readonly Book[] | RestoreFault;
  }

  #write(change: ChangeWrite): Promise<ChangeWriteResult> {
    return this.#store.write(WRITES, change) as Promise<ChangeWriteResult>;
  }

  /** Removes the first old changes, and indexes the next ones. @returns whether there may be more */
  async #maintain(): Promise<boolean> {
    // Without any, no write transaction begins, for which other writes would wait.
    const hasOld = this.#database.prepare(HAS_OLD).get() !== undefined;
    const isRemoving = hasOld && (await this.#write('remove')) === true;
    return (await this.#indexSome()) || isRemoving;
  }

  /** If it fails, as the disk is full, reads scan more. */
  async #indexAll(): Promise<void> {
    try {
      while (await this.#indexSome());
    } catch {}
  }

  /** Adds the next changes to the index by book, if it lacks many. @returns whether there may be more */
  async #indexSome(): Promise<boolean> {
    const { backlog } = this.#database.prepare(SELECT_BACKLOG).get() as { backlog: number };
    return backlog > SCANNED_MAX && (await this.#write('index')) === true;
  }
}
