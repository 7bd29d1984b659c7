import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailable } from '../../book/book-store.ts';
import { BatchQueue, NOTHING_CHANGES } from '../../store/batch-queue.ts';
import { BATCH_LIMITS, REMOVAL_MS } from '../../store/limits.ts';
import { DegradablePart, type FailureCause, type StoreObserver } from '../../store/observer.ts';
import { RecordingVerifier, recordBooks, stopRecording } from '../../store/sqlite/change-log.ts';
import { isSyncFailure, reasonOf, toNotReady, toStoreError } from '../../store/sqlite/errors.ts';
import { openConnection, transact } from '../../store/sqlite/files/connection.ts';
import { hasTable } from '../../store/sqlite/migrations.ts';
import { isUndoneInThread, LazyThread } from '../../store/sqlite/threads/thread-client.ts';
import type { BookHistory, ChangeCursor, ChangePage, ChangeRequest, CursorFault } from '../book-history.ts';
import { readChangePages } from '../change-log.ts';
import { expectRecording, HAS_OLD, type Restored, SELECT_BACKLOG, SELECT_LAST } from './change-reader.ts';
import type { Restore, Write, Written } from './write-thread.ts';

/** The interval at which the log is verified. */
const MAINTENANCE_MS = 1_000;
/** The changes that are indexed by book once few more follow, or at once: a read of the changes of a book scans the others. */
const BACKLOG_MIN = 1_000;
const BACKLOG_MAX = 100_000;
/** The time for other writers between two steps. */
const PAUSE_MS = 20;

/** @param days how long changes are kept; undefined to stop @throws StoreNotReady */
export async function openHistory(
  path: string,
  days: number | undefined,
  observer?: StoreObserver,
): Promise<BookHistory | undefined> {
  try {
    const database = await openConnection(path);
    // The write thread runs the checkpoints, as SQLite does not report the failure of its own.
    database.exec('pragma wal_autocheckpoint = 0');
    if (days !== undefined) return await new SqliteHistory(path, days, database, observer).start();
    using closing = database;
    if (hasTable(closing, 'book_history')) await transact(closing, () => stopRecording(closing));
    return undefined;
  } catch (error) {
    throw toNotReady(error, path);
  }
}

const LIST_THREAD = new URL('./read-thread.ts', import.meta.url);
const WRITE_THREAD = new URL('./write-thread.ts', import.meta.url);

/** Threads read and write changes; the main thread verifies the log, and reads the position of the last change. */
class SqliteHistory implements BookHistory {
  readonly lost: Promise<string>;
  readonly #lost = Promise.withResolvers<string>();
  readonly #days: number;
  readonly #database: DatabaseSync;
  readonly #verifier: RecordingVerifier;
  readonly #reader: LazyThread<ChangeRequest, ChangePage | CursorFault>;
  /** A thread of its own, as reads do not wait for the locks of other programs. */
  readonly #writer: LazyThread<Write, Written>;
  readonly #reads: BatchQueue<ChangeRequest, ChangePage | CursorFault>;
  readonly #restores: BatchQueue<Restore, Restored>;
  readonly #recording: DegradablePart;
  readonly #maintenance: DegradablePart;
  #timer: NodeJS.Timeout | undefined;
  #isTurnedOn = false;
  #isVerifying = false;
  #isMaintaining = false;
  #lastPosition = 0;
  #removalDueAt = 0;
  #isClosed = false;

  constructor(path: string, days: number, database: DatabaseSync, observer: StoreObserver | undefined) {
    this.lost = this.#lost.promise;
    this.#days = days;
    this.#database = database;
    this.#verifier = new RecordingVerifier(database);
    this.#reader = new LazyThread(LIST_THREAD, path, 'history thread', observer);
    this.#writer = new LazyThread(WRITE_THREAD, path, 'restore thread', observer);
    const options = { ...BATCH_LIMITS, observer };
    const read = (request: ChangeRequest) => this.#reader.send(request);
    this.#reads = new BatchQueue((requests) => readChangePages(requests, read), {
      ...options,
      isUndone: NOTHING_CHANGES,
      name: 'changes',
    });
    const restore = async ([request]: readonly Restore[]) => [await this.#restore(request as Restore)];
    this.#restores = new BatchQueue(restore, {
      ...options,
      isUndone: isUndoneInThread,
      batchItemsMax: 1,
      name: 'restore',
    });
    this.#recording = new DegradablePart('history', observer);
    this.#maintenance = new DegradablePart('maintenance of the history', observer);
  }

  /** Begins to record; what fails is tried again. */
  async start(): Promise<this> {
    await this.#verify();
    this.#timer = setInterval(() => void this.#maintain(), MAINTENANCE_MS).unref();
    void this.#maintain();
    return this;
  }

  async last(): Promise<ChangeCursor> {
    try {
      expectRecording(this.#verifier);
      return this.#database.prepare(SELECT_LAST).get() as unknown as ChangeCursor;
    } catch (error) {
      throw toStoreError(error);
    }
  }

  read(request: ChangeRequest): Promise<ChangePage | CursorFault> {
    return this.#reads.add(request);
  }

  restore(id: number, deletion?: ChangeCursor): Promise<Restored> {
    return this.#restores.add({ id, deletion });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await Promise.all([this.#reads.close(), this.#restores.close()]);
    await Promise.all([this.#reader.close(), this.#writer.close()]);
    if (this.#database.isOpen) this.#database.close();
  }

  async #restore(request: Restore): Promise<Restored> {
    const written = await this.#write(request);
    return 'restored' in written ? written.restored : undefined;
  }

  async #write(write: Write): Promise<Written> {
    const written = await this.#writer.send(write);
    if (!('lost' in written)) return written;
    this.#lost.resolve(written.lost);
    throw new StoreUnavailable('lost');
  }

  /** Turns the recording on, once, and puts it right if necessary; another process may turn it off. */
  async #verify(): Promise<void> {
    if (this.#isVerifying || this.#isClosed) return;
    this.#isVerifying = true;
    const isNecessary = () => !this.#isTurnedOn || this.#verifier.state() === 'faulty';
    try {
      if (isNecessary())
        await transact(this.#database, () => {
          // Another process may have put it right meanwhile.
          if (isNecessary()) recordBooks(this.#database, this.#days);
        });
      this.#isTurnedOn = true;
      expectRecording(this.#verifier);
      this.#recording.report(undefined);
    } catch (error) {
      if (isSyncFailure(error)) this.#lost.resolve('the disk has failed to make a change durable (fsync)');
      this.#recording.report(causeOf(error));
    } finally {
      this.#isVerifying = false;
    }
  }

  /** Puts the log right, then removes old changes and indexes new ones by book, in small steps. */
  async #maintain(): Promise<void> {
    await this.#verify();
    if (this.#isMaintaining) return;
    this.#isMaintaining = true;
    try {
      if (this.#verifier.state() !== 'on') return;
      if (performance.now() >= this.#removalDueAt) {
        this.#removalDueAt = performance.now() + REMOVAL_MS;
        if (this.#database.prepare(HAS_OLD).get()) await this.#writeAll('remove');
      }
      const { last, backlog } = this.#database.prepare(SELECT_BACKLOG).get() as {
        last: number;
        backlog: number;
      };
      if (backlog >= BACKLOG_MAX || (backlog >= BACKLOG_MIN && last - this.#lastPosition < BACKLOG_MIN))
        await this.#writeAll('index');
      this.#lastPosition = last;
      this.#maintenance.report(undefined);
    } catch (error) {
      if (!this.#isClosed) this.#maintenance.report(causeOf(error));
    } finally {
      this.#isMaintaining = false;
    }
  }

  async #writeAll(step: Write): Promise<void> {
    for (let hasMore = true; hasMore && !this.#isClosed; ) {
      const written = await this.#write(step);
      hasMore = 'hasMore' in written && written.hasMore;
      await sleep(PAUSE_MS);
    }
  }
}

function causeOf(error: unknown): FailureCause {
  if (error instanceof StoreUnavailable) return error.reason;
  return reasonOf(error) ?? (error as Error);
}
