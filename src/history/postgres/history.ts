import type { PoolClient } from 'pg';
import type { Book } from '../../book/book.ts';
import { StoreUnavailable } from '../../book/book-store.ts';
import { BatchQueue, NOTHING_CHANGES } from '../../store/batch-queue.ts';
import type { StoreConnection } from '../../store/engine.ts';
import { BATCH_LIMITS } from '../../store/limits.ts';
import { DegradablePart, type StoreObserver } from '../../store/observer.ts';
import type { Server } from '../../store/postgres/connection/connect.ts';
import { isUndone, sqlState, toStoreError } from '../../store/postgres/errors.ts';
import { ConnectionPool, openPools, type PoolLimits, retry } from '../../store/postgres/pool/pool.ts';
import type { BookHistory, ChangeCursor, ChangePage, ChangeRequest, CursorFault } from '../book-history.ts';
import { type ChangeRow, faultOf, notRecorded, readChangePages, toChangePage } from '../change-log.ts';
import { endRecording } from './preparation.ts';
import { causeOf, isPassing, Recording } from './recording.ts';
import { RESTORE, SELECT_LAST_CHANGE, type StateRow, selectLast, statementOf } from './statements.ts';

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

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#reads.close(), this.#restores.close(), this.#recording.close()]);
    await this.#pool.end();
  }

  /** The two statements see the transactions of one server, the second all that are final for the first. */
  async #read(request: ChangeRequest): Promise<ChangePage | CursorFault> {
    const { id, isOfDeleted, after } = request;
    const isFollowed = id === undefined && !isOfDeleted;
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

interface RestoredRow {
  readonly isRecorded: boolean;
  readonly book: Book | null;
  readonly obstacle: 'exists' | 'changed' | null;
}

/** A follower that began at a change after which others can still be committed before it would miss these. */
function expectFinal(position: number, last: number): void {
  if (last < position) throw new StoreUnavailable('an earlier transaction is open');
}
