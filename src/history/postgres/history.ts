import type { PoolClient } from 'pg';
import { LEFT_OUT, StoreUnavailable, TableRejection } from '../../book/book-store.ts';
import type { Book } from '../../book/contract.ts';
import { defineChangeLog } from '../../changes/postgres/change-log.ts';
import { BatchQueue } from '../../store/batch-queue.ts';
import type { StoreConnection } from '../../store/engine.ts';
import { StoreNotReady } from '../../store/errors.ts';
import { BATCH_LIMITS } from '../../store/limits.ts';
import { DegradablePart, type StoreObserver } from '../../store/observer.ts';
import { means } from '../../store/postgres/error-codes.ts';
import { causeOf, explainStartFailure, isUndone, toStoreError } from '../../store/postgres/errors.ts';
import { ConnectionPool, openPools, type PoolLimits, retry } from '../../store/postgres/pool/pool.ts';
import { toTableRejection } from '../../store/postgres/table-rejections.ts';
import type {
  BookHistory,
  ChangeCursor,
  ChangePage,
  ChangeRequest,
  CursorFault,
  RestoreFault,
  RestoreRequest,
} from '../book-history.ts';
import {
  type ChangeRow,
  faultOf,
  isForFollowers,
  notRecorded,
  READ_BATCHES,
  readOnce,
  toChangePage,
} from '../change-page.ts';
import { Maintenance } from '../maintenance.ts';
import {
  REMOVE_OLD,
  RESTORE,
  SELECT_LAST_CHANGE,
  SET_ORDER,
  type StateRow,
  selectLast,
  statementOf,
} from './statements.ts';

const POOLS = {
  history: { connectionsMax: 2, statementTimeoutMs: 1_400 },
  /** To prepare the recording, and to remove old changes. */
  history_recording: { connectionsMax: 1, statementTimeoutMs: 60_000 },
} as const satisfies Readonly<Record<string, PoolLimits>>;

/**
 * Starts to record the changes of a database, or stops.
 *
 * @param days how long changes are kept; undefined to stop
 * @returns undefined when it is off, or on Citus, which is reported
 * @throws StoreNotReady
 */
export async function openHistory(
  { server, canHaveTriggers }: Extract<StoreConnection, { engine: 'postgres' }>,
  days: number | undefined,
  observer: StoreObserver,
): Promise<BookHistory | undefined> {
  if (!canHaveTriggers) {
    if (days !== undefined) new DegradablePart('history', observer).report('no triggers');
    return undefined;
  }
  if (days === undefined) {
    const pool = new ConnectionPool(server, POOLS.history_recording);
    try {
      await prepare(pool, (client) => defineChangeLog(client, undefined));
    } finally {
      await pool.end();
    }
    return undefined;
  }
  const { history, history_recording: writes } = openPools(server, POOLS, observer);
  try {
    await prepare(writes, (client) => defineChangeLog(client, days));
  } catch (error) {
    await Promise.all([history.end(), writes.end()]);
    throw error;
  }
  return new PostgresHistory(history, writes, observer);
}

/** @throws StoreNotReady */
async function prepare(pool: ConnectionPool, run: (client: PoolClient) => Promise<void>): Promise<void> {
  try {
    await retry(() => pool.withConnection(run));
  } catch (error) {
    if (error instanceof StoreNotReady) throw error;
    const reason = means(error, 'lock not available in time')
      ? 'another transaction has locked the table books'
      : explainStartFailure(error);
    throw new StoreNotReady(`the history cannot be turned on or off (${reason})`, { cause: error });
  }
}

/** The log of changes of a database; src/changes/postgres/tables.ts describes how the order of commits is known. */
class PostgresHistory implements BookHistory {
  readonly #pool: ConnectionPool;
  readonly #writes: ConnectionPool;
  readonly #reads: BatchQueue<ChangeRequest, ChangePage | CursorFault>;
  readonly #restores: BatchQueue<RestoreRequest, readonly Book[] | RestoreFault>;
  readonly #maintenance: Maintenance;

  constructor(pool: ConnectionPool, writes: ConnectionPool, observer: StoreObserver) {
    this.#pool = pool;
    this.#writes = writes;
    const options = { ...BATCH_LIMITS, observer };
    const read = (request: ChangeRequest) => this.#read(request);
    this.#reads = new BatchQueue((requests) => readOnce(requests, read), { ...options, ...READ_BATCHES });
    this.#restores = new BatchQueue(async ([request]) => [await this.#restore(request as RestoreRequest)], {
      ...options,
      isUndone,
      batchItemsMax: 1,
      name: 'restore',
    });
    this.#maintenance = new Maintenance(() => this.#removeSome(), causeOf, observer);
  }

  async last(): Promise<ChangeCursor> {
    const [last, row] = await this.#run(async (client) => {
      const final = await selectLast(client);
      const { rows } = await client.query<StateRow>(SELECT_LAST_CHANGE, [final]);
      return [final, rows[0]] as const;
    });
    const { start, startNonce, position, nonce } = expectRecorded(row);
    expectFinal(start, last);
    return position === null ? { position: start, nonce: startNonce } : { position, nonce };
  }

  read(request: ChangeRequest, begin?: () => void): Promise<ChangePage | CursorFault> {
    return this.#reads.add(request, begin);
  }

  restore(request: RestoreRequest): Promise<readonly Book[] | RestoreFault> {
    return this.#restores.add(request);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#reads.close(), this.#restores.close(), this.#maintenance.close()]);
    await Promise.all([this.#pool.end(), this.#writes.end()]);
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
    const state = expectRecorded(rows[0]);
    const start = { position: state.start, nonce: state.startNonce };
    const fault = faultOf(request, { start, nonce: state.nonceAtCursor ?? undefined });
    if (fault) return fault;
    if (isFollowed && !after) expectFinal(start.position, last);
    const changes = rows.filter((row): row is StateRow & ChangeRow => row.position !== null);
    return toChangePage(changes, after ?? (isFollowed ? start : undefined));
  }

  async #restore(request: RestoreRequest): Promise<readonly Book[] | RestoreFault> {
    let failure: 'left out' | 'deadlock' | undefined;
    for (let attempt = 1; attempt <= RESTORE_ATTEMPTS; attempt++) {
      const result = await this.#run((client) => this.#tryRestore(client, request)).catch((error: unknown) =>
        Promise.reject(toTableRejection(error)),
      );
      if (typeof result !== 'string') return result;
      failure = result;
    }
    // Others would have restored the books by now.
    throw failure === 'left out' ? new TableRejection(LEFT_OUT) : new StoreUnavailable('contention');
  }

  /** @returns why nothing is restored: others restore some of the books at the same time, or a trigger leaves them out */
  async #tryRestore(
    client: PoolClient,
    { deletions, bytesMax = Number.MAX_SAFE_INTEGER }: RestoreRequest,
  ): Promise<readonly Book[] | RestoreFault | 'left out' | 'deadlock'> {
    const ids = deletions.map(({ id }) => id);
    const books = new Map<number, Book>();
    let bytesLeft = bytesMax;
    let isDone = false;
    await client.query('begin');
    try {
      await client.query(SET_ORDER, [ids.join(',')]);
      // In parts, each within the time limit of a statement.
      for (let start = 0; start < ids.length || start === 0; start += RESTORE_BOOKS) {
        const part = deletions.slice(start, start + RESTORE_BOOKS);
        const { rows } = await client.query<RestoredRow>(RESTORE, [
          part.map(({ id }) => id),
          part.map(({ cursor }) => cursor?.position ?? null),
          part.map(({ cursor }) => cursor?.nonce ?? null),
          bytesLeft,
        ]);
        const { fault, index, bytes } = expectRecorded(rows[0]);
        if (fault !== null) return { fault, index: start + index };
        const restored = rows.filter(({ id }) => id !== null);
        if (restored.length < part.length) return 'left out';
        for (const { id, title, author, year } of restored) books.set(id, { id, title, author, year });
        bytesLeft -= bytes;
      }
      isDone = true;
      await client.query('commit');
    } catch (error) {
      // Two requests restore the same books in different orders.
      if (means(error, 'deadlock')) return 'deadlock';
      throw error;
    } finally {
      if (!isDone) await client.query('rollback').catch(() => {});
    }
    return ids.map((id) => books.get(id) as Book);
  }

  async #run<Result>(run: (client: PoolClient) => Promise<Result>): Promise<Result> {
    try {
      return await retry(() => this.#pool.withConnection(run));
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Removes the first old changes. @returns whether there may be more */
  #removeSome(): Promise<boolean> {
    return this.#writes.withConnection(async (client) => {
      const { rowCount } = await client.query(REMOVE_OLD, [await selectLast(client)]);
      return rowCount !== 0;
    });
  }
}

/** @throws StoreUnavailable after another process has turned the history off */
function expectRecorded<Row extends { readonly isRecorded: boolean }>(row: Row | undefined): Row {
  if (!row?.isRecorded) throw notRecorded();
  return row;
}

/** The books that a statement restores. */
const RESTORE_BOOKS = 1_000;
const RESTORE_ATTEMPTS = 10;

interface RestoredRow extends Book {
  readonly isRecorded: boolean;
  readonly index: number;
  readonly fault: RestoreFault['fault'] | null;
  /** Of the texts of all books as JSON. */
  readonly bytes: number;
}

/** A follower that began at a change after which others can still be committed before it would miss these. */
function expectFinal(position: number, last: number): void {
  if (last < position) throw new StoreUnavailable('an earlier transaction is open');
}
