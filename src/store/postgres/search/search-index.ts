import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { Book } from '../../../book/book.ts';
import { StoreUnavailable } from '../../../book/book-store-interface.ts';
import type { FailureCause, Part } from '../../observer.ts';
import { isReadOnly, reasonOf, sqlState, toStoreError } from '../errors.ts';
import { OptionalFeature } from '../pool/optional-feature.ts';
import type { ConnectionPool } from '../pool/pool.ts';
import { retry } from '../pool/retry.ts';
import { foldedColumnsOf } from './fold-books.ts';
import {
  ADD,
  BOOKS_BY_ID,
  isBehind,
  LEAVE_NOTES,
  NEXT_IDS,
  OtherVersion,
  prepareIndex,
  SIZES,
  TAKE_NOTES,
} from './search-schema.ts';

/** How many notes, and how many books, one step takes in at most. */
const NOTES_PER_STEP = 100;
const BOOKS_PER_STEP = 500;

/** The most bytes of text that a step reads, but for a single book. */
const BYTES_PER_STEP = 4 * 1_024 * 1_024;

/** After this a search waits for no further step; it goes without. */
const SEARCH_WAITS_MS = 100;

/** The index of a database, which several processes keep up together. */
export class SearchIndex {
  readonly #pool: ConnectionPool;
  /** Whether the server allows an index. */
  readonly #permission = new OptionalFeature();
  readonly #part: Part;
  #preparing: Promise<boolean> | undefined;
  #going: Promise<boolean> | undefined;
  #isClosed = false;

  /** @param part is told why there is none that could be used */
  constructor(pool: ConnectionPool, part: Part) {
    this.#pool = pool;
    this.#part = part;
  }

  /**
   * Takes in what has been written so far. When that is too much for one search, the rest follows bit by bit.
   *
   * @returns whether the index has every book as it was when this was called, or later; false while the server does not
   *   allow one
   * @throws StoreUnavailable when the server cannot be reached
   */
  async catchUp(): Promise<boolean> {
    if (!this.#permission.isEnabled) return false;
    this.#preparing ??= this.#prepare();
    if (!(await this.#preparing)) return false;
    try {
      const isUpToDate = this.#going === undefined && !(await retry(() => isBehind(this.#pool)));
      if (isUpToDate || (await this.#goOnForAWhile())) {
        this.#part.failure = undefined;
        return true;
      }
    } catch (error) {
      if (NOT_ALLOWED.test(sqlState(error) ?? '')) return this.#refuse(reasonOf(error));
      if (!isReadOnly(error) && !(error instanceof OtherVersion)) throw error;
      this.#part.failure = causeOf(error);
    }
    return false;
  }

  /** @returns whether all was taken in meanwhile. The steps that are left go on by themselves */
  async #goOnForAWhile(): Promise<boolean> {
    if (this.#going !== undefined) return false;
    this.#going = this.#goOn();
    const ended = new AbortController();
    const isAll = await Promise.race([this.#going, sleep(SEARCH_WAITS_MS, false, { signal: ended.signal })]);
    ended.abort();
    return isAll;
  }

  /** Ends what goes on behind the scenes. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#going?.catch(() => false);
    await this.#pool.end();
  }

  /** Makes what is missing. @returns whether there can be an index */
  async #prepare(): Promise<boolean> {
    try {
      return (await prepareIndex(this.#pool, (run) => this.#transact(run))) || this.#refuse('no table');
    } catch (error) {
      const state = sqlState(error);
      if (state !== undefined && !PASSING.test(state)) return this.#refuse(reasonOf(error));
      this.#preparing = undefined;
      this.#part.failure = causeOf(error);
      if (state === undefined) throw toStoreError(error);
      return false;
    }
  }

  /** Does without the index for a while, and makes then what is missing. */
  #refuse(reason: string): false {
    this.#part.failure = reason;
    this.#permission.disable();
    this.#preparing = undefined;
    return false;
  }

  /** @returns whether all was taken in: not when this is closed. @throws what a step throws, to whoever waits */
  async #goOn(): Promise<boolean> {
    try {
      while (!this.#isClosed) {
        if (await this.#step()) return true;
        await sleep(PAUSE_MS);
      }
      return false;
    } catch (error) {
      this.#part.failure = causeOf(error);
      throw error;
    } finally {
      this.#going = undefined;
    }
  }

  /** Takes in some of what is new, in one transaction. @returns whether that was all of it */
  #step(): Promise<boolean> {
    return this.#transact(async (client) => {
      // What a crash takes of the index, it takes of what has become of the notes, too.
      await client.query('set local synchronous_commit = off');
      // One process at a time; the next one finds the notes that this one has left.
      await client.query('select one from book_search_lock for update');
      if (!(await isBehind(client))) return true;
      const { rows: notes } = await client.query<Note>(TAKE_NOTES, [NOTES_PER_STEP]);
      const isAll = notes.length < NOTES_PER_STEP;
      const singles = notes.filter(({ first, last }) => first === last).map(({ first }) => first);
      const ranges = notes.filter(({ first, last }) => first !== last);
      const rest = [
        ...(await this.#takeSingles(client, singles)),
        ...(await this.#takeRanges(client, ranges)),
      ];
      if (rest.length > 0) {
        const [firsts, lasts] = [rest.map(({ first }) => first), rest.map(({ last }) => last)];
        await client.query(LEAVE_NOTES, [firsts, lasts]);
      }
      return isAll && rest.length === 0;
    });
  }

  /** Takes in books by their ids. @returns what is left of them, where they are long */
  async #takeSingles(client: PoolClient, ids: readonly string[]): Promise<Note[]> {
    if (ids.length === 0) return [];
    const { rows } = await client.query<{ id: string; total: string }>(SIZES, [ids]);
    const left = new Set(rows.filter((row, index) => !isFitting(row, index)).map(({ id }) => id));
    const taken = ids.filter((id) => !left.has(id));
    await this.#replace(client, taken, await booksOf(client, BOOKS_BY_ID, [taken]));
    return [...left].map((id) => ({ first: id, last: id }));
  }

  /** Takes in what ranges of ids begin with. @returns what is left of them */
  async #takeRanges(client: PoolClient, ranges: readonly Note[]): Promise<Note[]> {
    const rest = [...ranges];
    for (let room = BOOKS_PER_STEP; room > 0 && rest.length > 0; ) {
      const { first, last } = rest.shift() as Note;
      // Some ids are those of books that have gone, and are in the index alone.
      const { rows } = await client.query<{ id: string; total: string }>(NEXT_IDS, [first, last, room]);
      const fitting = rows.filter(isFitting);
      const ids = fitting.map(({ id }) => id);
      await this.#replace(client, ids, await booksOf(client, BOOKS_BY_ID, [ids]));
      room -= rows.length;
      const end = ids.at(-1);
      const isDone = rows.length === 0 || (fitting.length === rows.length && room > 0) || end === last;
      if (!isDone && end !== undefined) rest.unshift({ first: `${BigInt(end) + 1n}`, last });
    }
    return rest;
  }

  async #replace(client: PoolClient, ids: readonly string[], books: readonly Book[]): Promise<void> {
    await client.query('delete from book_search where id = any($1::bigint[])', [ids]);
    await client.query(ADD, await foldedColumnsOf(books));
  }

  #transact<Result>(run: (client: PoolClient) => Promise<Result>): Promise<Result> {
    return retry(() =>
      this.#pool.withConnection(async (client) => {
        await client.query('begin');
        const result = await run(client);
        await client.query('commit');
        return result;
      }),
    );
  }
}

/** The ids that may have changed, from the first to the last, as text: they may lie beyond those of books. */
interface Note {
  readonly first: string;
  readonly last: string;
}

/** Why there is no index: a code of the server or of the connection, or else a defect. */
function causeOf(error: unknown): FailureCause {
  if (error instanceof OtherVersion) return 'another version';
  const isStoreError = sqlState(error) !== undefined || toStoreError(error) instanceof StoreUnavailable;
  return isStoreError || !(error instanceof Error) ? reasonOf(error) : error;
}

function isFitting({ total }: { total: string }, index: number): boolean {
  return index === 0 || Number(total) <= BYTES_PER_STEP;
}

async function booksOf(client: PoolClient, text: string, values: unknown[]): Promise<Book[]> {
  return (await client.query<Book>(text, values)).rows;
}

/** Somebody else has made the tables, and they are not for us. */
const NOT_ALLOWED = /^42/;

/** A server that is busy may allow it later, and another process may make it at the same time. */
const PASSING = /^(08|25006|40|53|57|XX|23505|42P07|42710|42723)/;

/** How long others have between two steps that nobody waits for. */
const PAUSE_MS = 5;
