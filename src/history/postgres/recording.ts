import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailable } from '../../book/book-store.ts';
import { REMOVAL_MS } from '../../store/limits.ts';
import type { DegradablePart, FailureCause } from '../../store/observer.ts';
import { reasonOf, sqlState, toStoreError } from '../../store/postgres/errors.ts';
import type { ConnectionPool } from '../../store/postgres/pool/pool.ts';
import { ForeignTable, LOCK_MS, prepareRecording } from './preparation.ts';
import { REMOVE_OLD, selectLast } from './statements.ts';

/** The longest time that a start waits for the first preparation. */
const START_MS = 2_000;
/** The time until a failed preparation is tried again, and at least between two of them. */
const RETRY_MS = 1_000;
/** The longest time that the table of books is awaited in the background. */
const BACKGROUND_LOCK_MS = 100;
/** The time for other transactions between two steps of a removal. */
const PAUSE_MS = 50;

/** Keeps the recording of changes intact in the background, and removes old ones. */
export class Recording {
  readonly #pool: ConnectionPool;
  readonly #days: number;
  readonly #part: DegradablePart;
  readonly #closing = new AbortController();
  #checking = new AbortController();
  #running: Promise<void> | undefined;
  #isStarted = false;

  constructor(pool: ConnectionPool, days: number, part: DegradablePart) {
    this.#pool = pool;
    this.#days = days;
    this.#part = part;
  }

  /** @returns false if changes cannot be recorded in this database; true when they are, or will perhaps be */
  async start(): Promise<boolean> {
    const first = Promise.withResolvers<boolean>();
    this.#running = this.#run((error) => first.resolve(error === undefined || isPassing(error)));
    return Promise.race([first.promise, sleep(START_MS, true, { ref: false })]);
  }

  /** Checks it soon. */
  check(): void {
    this.#checking.abort();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    await this.#pool.end();
  }

  async #run(onPrepared: (error?: unknown) => void): Promise<void> {
    const { signal } = this.#closing;
    for (let lockMs = LOCK_MS; !signal.aborted; lockMs = BACKGROUND_LOCK_MS) {
      this.#checking = new AbortController();
      const isRecorded = await this.#prepare(lockMs, onPrepared);
      if (isRecorded) await this.#removeOld();
      await pause(RETRY_MS, signal);
      if (isRecorded) await pause(REMOVAL_MS, AbortSignal.any([signal, this.#checking.signal]));
    }
  }

  async #prepare(lockMs: number, onPrepared: (error?: unknown) => void): Promise<boolean> {
    try {
      const options = { days: this.#days, isStart: !this.#isStarted, lockMs };
      const isRecorded = await this.#pool.withConnection((client) => prepareRecording(client, options));
      this.#isStarted = true;
      if (!isRecorded) this.#part.report('turned off by another process');
      onPrepared();
      return isRecorded;
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#part.report(causeOf(error));
      onPrepared(error);
      return false;
    }
  }

  async #removeOld(): Promise<void> {
    try {
      while (!this.#closing.signal.aborted && (await this.#removeSome())) await pause(PAUSE_MS);
      this.#part.report(undefined);
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#part.report(causeOf(error));
    }
  }

  /** @returns whether there may be more */
  #removeSome(): Promise<boolean> {
    return this.#pool.withConnection(async (client) => {
      const { rowCount } = await client.query(REMOVE_OLD, [await selectLast(client)]);
      return rowCount !== 0;
    });
  }
}

async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { ref: false, ...(signal && { signal }) }).catch(() => {});
}

/** Whether trying again may succeed without a change of the database or its privileges. */
export function isPassing(error: unknown): boolean {
  const state = sqlState(error);
  if (state === undefined) return !(error instanceof ForeignTable);
  return !/^(0A|42)/.test(state) || CONCURRENT.has(state);
}

/** Another process has created the same at the same time. */
const CONCURRENT: ReadonlySet<string> = new Set(['42P07', '42710', '42723']);

/** A code of the server or of the connection; for defects, the error. */
export function causeOf(error: unknown): FailureCause {
  if (error instanceof ForeignTable) return error.message;
  const storeError = toStoreError(error);
  if (storeError instanceof StoreUnavailable) return storeError.reason;
  return sqlState(error) === undefined && error instanceof Error ? error : reasonOf(error);
}
