import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase, PoolClient } from 'pg';
import type { Book } from '../../book/book.ts';
import type { BookHistory, ChangePage, ChangeRequest } from '../../book/book-history.ts';
import { BatchQueue } from '../batch-queue.ts';
import type { StoreObserver } from '../observer.ts';
import { type ChangeRow, readChangePages, toChangePage, valuesOf } from '../page.ts';
import { BATCH_LIMITS, REMOVAL_MAX, REMOVAL_MS } from '../store-limits.ts';
import { sqlState, toStoreError } from './errors.ts';
import { REMOVE_OLD, RESTORE, SELECT_LAST, selectOf } from './history/history-sql.ts';
import { STOP_RECORDING, startRecording } from './history/history-triggers.ts';
import type { Database } from './pool/database.ts';
import { type ConnectionPool, retry } from './pool/pool.ts';
import { END_IF_IDLE } from './schema.ts';

/** The log of changes of a database. `history/history-triggers.ts` describes how the order of commits is known. */

interface State {
  readonly schema: string;
  readonly isRecorded: boolean;
  readonly isStandby: boolean;
}

const SELECT_STATE = `
  select quote_ident(nspname) as schema, pg_is_in_recovery() as "isStandby",
    exists (select 1 from pg_trigger where tgrelid = pg_class.oid and tgname = 'book_history_truncate') as "isRecorded"
  from pg_class join pg_namespace on pg_namespace.oid = relnamespace where pg_class.oid = to_regclass('books')
`;

/**
 * Starts to record the history, and keeps it for some days; or stops.
 *
 * @returns why that is impossible; undefined when it is done
 */
export async function prepareHistory(
  client: ClientBase,
  days: number | undefined,
): Promise<string | undefined> {
  try {
    const state = await selectState(client);
    if (!state || (days === undefined && !state.isRecorded)) return undefined;
    if (state.isStandby) return 'a standby';
    if (state.isRecorded !== (days !== undefined))
      await retry(
        () => switchRecording(client, days !== undefined),
        (error) => sqlState(error) === LOCK_TIMEOUT,
      );
    await client.query('update book_history set days = $1 where days is distinct from $1', [days]);
    return undefined;
  } catch (error) {
    const state = sqlState(error);
    if (state === undefined || !/^(0A|25|42|55)/.test(state)) throw error;
    return state;
  }
}

async function selectState(client: ClientBase): Promise<State | undefined> {
  const { rows } = await client.query<State>(SELECT_STATE);
  return rows[0];
}

const LOCK_TIMEOUT = '55P03';

async function switchRecording(client: ClientBase, isRecorded: boolean): Promise<void> {
  try {
    // While it waits, later writers queue behind it.
    await client.query(`begin; set local lock_timeout = '1s'; ${END_IF_IDLE}`);
    await client.query('lock table books in share row exclusive mode');
    const state = await selectState(client);
    // Another process may have done it meanwhile.
    if (state && state.isRecorded !== isRecorded)
      await client.query(isRecorded ? startRecording(state.schema) : STOP_RECORDING);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/** The time for other transactions between two steps of a removal. */
const PAUSE_MS = 50;

export class PostgresHistory implements BookHistory {
  readonly #pool: ConnectionPool;
  readonly #reads: BatchQueue<ChangeRequest, ChangePage>;
  readonly #restores: BatchQueue<number, Book | 'exists' | undefined>;
  readonly #removal: NodeJS.Timeout;
  #isClosed = false;

  /** @param database the books' own */
  constructor(pool: ConnectionPool, database: Database, observer: StoreObserver | undefined) {
    this.#pool = pool;
    const options = { ...BATCH_LIMITS, observer };
    this.#reads = new BatchQueue((requests) => readChangePages(requests, (request) => this.#read(request)), {
      ...options,
      name: 'changes',
    });
    const restore = async ([id]: readonly number[]) => {
      const [row] = await database.query<{ restored: Book | 'exists' | null }>(RESTORE, [id]);
      return [row?.restored ?? undefined];
    };
    this.#restores = new BatchQueue(restore, { ...options, batchItemsMax: 1, name: 'restore' });
    this.#removal = setInterval(() => void this.#removeOld(), REMOVAL_MS).unref();
    void this.#removeOld();
  }

  last(): Promise<number> {
    return this.#run((client) => selectLast(client));
  }

  read(request: ChangeRequest): Promise<ChangePage> {
    return this.#reads.add(request);
  }

  restore(id: number): Promise<Book | 'exists' | undefined> {
    return this.#restores.add(id);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#removal);
    await Promise.all([this.#reads.close(), this.#restores.close()]);
    await this.#pool.end();
  }

  /** The two statements see the transactions of one server, the second all that are final for the first. */
  #read(request: ChangeRequest): Promise<ChangePage> {
    return this.#run(async (client) => {
      const last = await selectLast(client);
      const { rows } = await client.query<ChangeRow>(selectOf(request), [last, ...valuesOf(request)]);
      return toChangePage(rows);
    });
  }

  /** Removes old changes in small steps; what fails is done at the next time. */
  async #removeOld(): Promise<void> {
    while (!this.#isClosed) {
      const { rowCount } = await this.#pool.query(REMOVE_OLD).catch(() => ({ rowCount: 0 }));
      if (rowCount !== REMOVAL_MAX) return;
      await sleep(PAUSE_MS);
    }
  }

  async #run<Result>(read: (client: PoolClient) => Promise<Result>): Promise<Result> {
    try {
      return await retry(
        () => this.#pool.withConnection(read),
        (error) => this.#pool.isRetryable(error),
      );
    } catch (error) {
      throw toStoreError(error);
    }
  }
}

async function selectLast(client: PoolClient): Promise<number> {
  const { rows } = await client.query<{ last: number }>(SELECT_LAST);
  return rows[0]?.last ?? 0;
}
