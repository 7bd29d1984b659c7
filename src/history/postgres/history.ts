import type { PoolClient } from 'pg';
import type { Book } from '../../book/book.ts';
import { StoreUnavailable, UPDATED_BYTES_MAX } from '../../book/book-store.ts';
import { BatchQueue, NOTHING_CHANGES } from '../../store/batch-queue.ts';
import type { StoreConnection } from '../../store/engine.ts';
import { BATCH_LIMITS } from '../../store/limits.ts';
import { DegradablePart, type StoreObserver } from '../../store/observer.ts';
import type { Server } from '../../store/postgres/connection/connect.ts';
import { isUndone, sqlState, toStoreError } from '../../store/postgres/errors.ts';
import { ConnectionPool, openPools, type PoolLimits, retry } from '../../store/postgres/pool/pool.ts';
import type {
  BookHistory,
  ChangeCursor,
  ChangePage,
  ChangeRequest,
  CursorFault,
  RestoreFault,
} from '../book-history.ts';
import {
  type ChangeRow,
  faultOf,
  isForFollowers,
  notRecorded,
  readChangePages,
  toChangePage,
} from '../change-log.ts';
import { endRecording } from './preparation.ts';
import { causeOf, isPassing, Recording } from './recording.ts';
import {
  RESTORE,
  RESTORE_MANY,
  SELECT_LAST_CHANGE,
  type StateRow,
  selectLast,
  statementOf,
} from './statements.ts';

const POOLS = {
  history: { connectionsMax: 2, statementTimeoutMs: 1_400 },
  /** To remove a single change of a gigabyte takes seconds. */
  history_recording: { connectionsMax: 1, statementTimeoutMs: 60_000 },
} as const satisfies Readonly<Record<string, PoolLimits>>;

/**
 * Starts to record the changes of a database, or stops.
 *
 * @param days how long changes are kept; undefined to stop
 * @returns undefined when it is off, or where it is impossible, which is reported. If it is impossible for a time only, such as
 *   while the table is locked, the history is unavailable until it has been prepared in the background.
 */
export async function openHistory(
  { server, canHaveTriggers }: Extract<StoreConnection, { engine: 'postgres' }>,
  days: number | undefined,
  observer?: StoreObserver,
): Promise<BookHistory | undefined> {
  const part = new DegradablePart('history', observer);
  if (days === undefined) {
    if (canHaveTriggers) await stop(server, part);
    return undefined;
  }
  if (!canHaveTriggers) {
    part.report('no triggers');
    return undefined;
  }
  const { history, history_recording: writes } = openPools(server, POOLS, observer);
  const recording = new Recording(writes, days, part);
  if (await recording.start()) return new PostgresHistory(history, recording, observer);
  await recording.close();
  return undefined;
}

async function stop(server: Server, part: DegradablePart): Promise<void> {
  const pool = new ConnectionPool(server, POOLS.history_recording);
  try {
    await retry(() => pool.withConnection(endRecording), isPassing);
  } catch (error) {
    part.report(causeOf(error));
  } finally {
    await pool.end();
  }
}

/** The log of changes of a database; `recorder.ts` describes how the order of commits is known. */
class PostgresHistory implements BookHistory {
  readonly #pool: ConnectionPool;
  readonly #recording: Recording;
  readonly #reads: BatchQueue<ChangeRequest, ChangePage | CursorFault>;
  readonly #bulkRestores: BatchQueue<readonly number[], readonly Book[] | RestoreFault>;
  readonly #restores: BatchQueue<Deletion, Book | 'exists' | 'changed' | undefined>;

  constructor(pool: ConnectionPool, recording: Recording, observer: StoreObserver | undefined) {
    this.#pool = pool;
    this.#recording = recording;
    const options = { ...BATCH_LIMITS, observer };
    this.#reads = new BatchQueue((requests) => readChangePages(requests, (request) => this.#read(request)), {
      ...options,
      isUndone: NOTHING_CHANGES,
      name: 'changes',
    });
    this.#restores = new BatchQueue(async ([deletion]) => [await this.#restore(deletion as Deletion)], {
      ...options,
      isUndone,
      batchItemsMax: 1,
      name: 'restore',
    });
    this.#bulkRestores = new BatchQueue(
      async ([ids]) => [await this.#restoreMany(ids as readonly number[])],
      {
        ...options,
        isUndone,
        batchItemsMax: 1,
        name: 'restore_many',
      },
    );
  }

  async last(): Promise<ChangeCursor> {
    const [last, row] = await this.#run(async (client) => {
      const final = await selectLast(client);
      const { rows } = await client.query<StateRow>(SELECT_LAST_CHANGE, [final]);
      return [final, rows[0]] as const;
    });
    const { start, startNonce, position, nonce } = this.#expectRecorded(row);
    expectFinal(start, last);
    return position === null ? { position: start, nonce: startNonce } : { position, nonce };
  }

  read(request: ChangeRequest): Promise<ChangePage | CursorFault> {
    return this.#reads.add(request);
  }

  restore(id: number, deletion?: ChangeCursor): Promise<Book | 'exists' | 'changed' | undefined> {
    return this.#restores.add({ id, deletion });
  }

  restoreMany(ids: readonly number[]): Promise<readonly Book[] | RestoreFault> {
    return this.#bulkRestores.add(ids);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([
      this.#reads.close(),
      this.#restores.close(),
      this.#bulkRestores.close(),
      this.#recording.close(),
    ]);
    await this.#pool.end();
  }

  /** The two statements see the transactions of one server, the second all that are final for the first. */
  async #read(request: ChangeRequest): Promise<ChangePage | CursorFault> {
    const { after } = request;
    const isFollowed = isForFollowers(request);
    const [last, rows] = await this.#run(async (client) => {
      const final = isFollowed ? await selectLast(client) : 0;
      const result = await client.query<StateRow>(statementOf(request, final));
      return [final, result.rows] as const;
    });
    const state = this.#expectRecorded(rows[0]);
    const start = { position: state.start, nonce: state.startNonce };
    const fault = faultOf(request, { start, nonce: state.nonceAtCursor ?? undefined });
    if (fault) return fault;
    if (isFollowed && !after) expectFinal(start.position, last);
    const changes = rows.filter((row): row is StateRow & ChangeRow => row.position !== null);
    return toChangePage(changes, after ?? (isFollowed ? start : undefined));
  }

  async #restore({ id, deletion }: Deletion): Promise<Book | 'exists' | 'changed' | undefined> {
    const values = [id, deletion?.position ?? null, deletion?.nonce ?? null];
    const { rows } = await this.#run((client) => client.query<RestoredRow>(RESTORE, values));
    const { book, obstacle } = this.#expectRecorded(rows[0]);
    return book ?? obstacle ?? undefined;
  }

  async #restoreMany(ids: readonly number[]): Promise<readonly Book[] | RestoreFault> {
    for (let attempt = 1; attempt <= RESTORE_ATTEMPTS; attempt++) {
      const result = await this.#run((client) => this.#tryRestoreMany(client, ids));
      if (result) return result;
    }
    throw new StoreUnavailable('contention');
  }

  /** @returns undefined when others have restored some of the books at the same time, and nothing is restored */
  async #tryRestoreMany(
    client: PoolClient,
    ids: readonly number[],
  ): Promise<readonly Book[] | RestoreFault | undefined> {
    const books = new Map<number, Book>();
    let bytesLeft = UPDATED_BYTES_MAX;
    let isDone = false;
    await client.query('begin');
    try {
      // In parts, each within the time limit of a statement.
      for (let start = 0; start < ids.length || start === 0; start += RESTORE_BOOKS) {
        const part = ids.slice(start, start + RESTORE_BOOKS);
        const { rows } = await client.query<RestoredManyRow>(RESTORE_MANY, [part, bytesLeft]);
        const { fault, index } = this.#expectRecorded(rows[0]);
        if (fault !== null) return { fault, index: start + index };
        const restored = rows.filter(({ id }) => id !== null);
        if (restored.length < part.length) return undefined;
        for (const { id, title, author, year, bytes } of restored) {
          books.set(id, { id, title, author, year });
          bytesLeft -= bytes;
        }
      }
      isDone = true;
      await client.query('commit');
    } catch (error) {
      if (sqlState(error) === DEADLOCK) return undefined;
      throw error;
    } finally {
      if (!isDone) await client.query('rollback').catch(() => {});
    }
    return ids.map((id) => books.get(id) as Book);
  }

  /** @throws StoreUnavailable while changes are not recorded; what must be repaired is, soon */
  #expectRecorded<Row extends { readonly isRecorded: boolean }>(row: Row | undefined): Row {
    if (row?.isRecorded) return row;
    this.#recording.check();
    throw notRecorded();
  }

  async #run<Result>(run: (client: PoolClient) => Promise<Result>): Promise<Result> {
    try {
      return await retry(() => this.#pool.withConnection(run));
    } catch (error) {
      if (MISSING.has(sqlState(error) ?? '')) this.#expectRecorded(undefined);
      throw toStoreError(error);
    }
  }
}

/** A table, a column or a function is missing. */
const MISSING: ReadonlySet<string> = new Set(['42P01', '42703', '42883']);

interface Deletion {
  readonly id: number;
  readonly deletion: ChangeCursor | undefined;
}

/** The books that a statement restores. */
const RESTORE_BOOKS = 1_000;
const RESTORE_ATTEMPTS = 10;
/** Two requests restore the same books in different orders. */
const DEADLOCK = '40P01';

interface RestoredManyRow extends Book {
  readonly isRecorded: boolean;
  readonly bytes: number;
  readonly index: number;
  readonly fault: RestoreFault['fault'] | null;
}

interface RestoredRow {
  readonly isRecorded: boolean;
  readonly book: Book | null;
  readonly obstacle: 'exists' | 'changed' | null;
}

/** A follower that began at a change after which others can still be committed before it would miss these. */
function expectFinal(position: number, last: number): void {
  if (last < position) throw new StoreUnavailable('an earlier transaction is open');
}
