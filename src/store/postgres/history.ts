import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase, PoolClient } from 'pg';
import type { Book } from '../../book/book.ts';
import type { BookHistory, ChangePage, ChangeRequest } from '../../book/book-history.ts';
import { BatchQueue } from '../batch-queue.ts';
import type { StoreObserver } from '../observer.ts';
import { type ChangeRow, readChangePages, toChangePage, untilLong, valuesOf } from '../page.ts';
import { BATCH_LIMITS, CHANGE_REMOVAL_MAX, CHANGE_REMOVAL_MS } from '../store-limits.ts';
import { sqlState, toStoreError } from './errors.ts';
import { STOP_RECORDING, startRecording } from './history/history-triggers.ts';
import type { Database } from './pool/database.ts';
import { type ConnectionPool, retry } from './pool/pool.ts';
import { END_IF_IDLE } from './schema.ts';
import { BOOK_COLUMNS, type Statement } from './sql.ts';

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

/** The identity of the log: that of a restored dump differs by its server or its table. A standby has that of its primary. */
const LOG = `
  left(md5(log || 'book_history'::regclass::oid || (select system_identifier from pg_control_system())), 16)
`;

const SELECT_LAST = 'select book_history_last() as last';

function selectChanges(condition: string, order: string): string {
  const rows = `
    select *, row_number() over preceding as number,
      sum(octet_length(title) + octet_length(author)) over preceding as total
    from (
      select * from book_history_changes
      where note > (select removed from book_history) and note <= $1 and ${condition}
      order by note ${order} limit $3
    ) as next
    window preceding as (order by note ${order} rows unbounded preceding)`;
  return `
    select ${LOG} as log, removed, days, $1::bigint as last,
      greatest(removed, (select max(note) from book_history_changes)) as newest, note, type,
      floor(extract(epoch from at) * 1000)::bigint as at, id, title, author, year
    from book_history left join ${untilLong(rows)} as changes on true
    order by number`;
}

const SELECT_CHANGES = selectChanges('note > $2', 'asc');
const SELECT_CHANGES_OF_BOOK = selectChanges('note < $2 and id = $4', 'desc');

/**
 * Stores a book as it was when it was deleted. It writes to that change, so that a statement that has waited for another
 * restore of the book finds another version of the change, and does not restore what may be older than the last deletion.
 */
const RESTORE: Statement = {
  text: `
  with deletion as (
    select note, version from (
      select note, xmin as version, type from book_history_changes
      where id = $1 and note > (select removed from book_history)
      order by note desc limit 1
    ) as last_change
    where type = 'deleted'
  ), deleted as (
    update book_history_changes as changes set at = changes.at from deletion
    where changes.note = deletion.note and changes.xmin = deletion.version
    returning changes.id, changes.title, changes.author, changes.year
  ), restored as (
    insert into books (id, title, author, year) select id, title, author, year from deleted
    on conflict (id) do nothing
    returning ${BOOK_COLUMNS}
  )
  select coalesce(
    (select row_to_json(restored) from restored),
    (select to_json('exists'::text) where exists (select from deletion) or exists (select from books where id = $1))
  ) as restored
`,
};

const REMOVE_OLD = `
  with first as (
    select note, at from book_history_changes order by note limit ${CHANGE_REMOVAL_MAX}
  ), old as (
    select max(note) as note from first cross join book_history
    where at < now() - days * interval '1 day' or note <= removed
  ), moved as (
    update book_history set removed = old.note from old where old.note > removed
  )
  delete from book_history_changes using first, old
  where book_history_changes.note = first.note and first.note <= old.note
`;

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
    this.#removal = setInterval(() => void this.#removeOld(), CHANGE_REMOVAL_MS).unref();
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
      const sql = request.id === undefined ? SELECT_CHANGES : SELECT_CHANGES_OF_BOOK;
      const { rows } = await client.query<ChangeRow>(sql, [last, ...valuesOf(request)]);
      return toChangePage(rows);
    });
  }

  /** Removes old changes in small steps; what fails is done at the next time. */
  async #removeOld(): Promise<void> {
    while (!this.#isClosed) {
      const { rowCount } = await this.#pool.query(REMOVE_OLD).catch(() => ({ rowCount: 0 }));
      if (rowCount !== CHANGE_REMOVAL_MAX) return;
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
