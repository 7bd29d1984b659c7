import { setImmediate as endOfTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import type { Book } from '../../book.ts';
import { lowerCase, wordsOf } from '../text.ts';
import { sqlState, toStoreError } from './errors.ts';
import { schemaOf } from './search-schema.ts';
import { BOOK } from './sql.ts';
import { trigramsOf } from './trigrams.ts';

/** How many notes, and how many books, one step takes in at most. */
const NOTES_PER_STEP = 100;
const BOOKS_PER_STEP = 500;

/** How many texts are folded at a time. */
const BOOKS_PER_TURN = 50;

/** The most bytes of text that a step reads, but for a single book. */
const BYTES_PER_STEP = 4 * 1_024 * 1_024;

/** After this a search waits for no further step; it goes without. */
const SEARCH_WAITS_MS = 100;

/** The index of a database, which several processes keep up together. */
export class SearchIndex {
  readonly #pool: Pool;
  #preparing: Promise<boolean> | undefined;
  #going: Promise<void> | undefined;
  #isClosed = false;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /**
   * Takes in what has been written so far. When that is too much for one search, the rest follows bit by bit.
   *
   * @returns whether the index has every book as it was when this was called, or later; false where the server does not
   *   allow one
   * @throws StoreUnavailable when the server cannot be reached
   */
  async catchUp(): Promise<boolean> {
    this.#preparing ??= this.#prepare();
    if (!(await this.#preparing)) return false;
    try {
      const deadline = performance.now() + SEARCH_WAITS_MS;
      while (this.#going === undefined && performance.now() < deadline) {
        if (!(await this.#isBehind()) || (await this.#step())) return true;
      }
    } catch (error) {
      if (!NOT_ALLOWED.test(sqlState(error) ?? '')) throw error;
      this.#preparing = Promise.resolve(false);
      return false;
    }
    this.#going ??= this.#goOn();
    return false;
  }

  /** Ends what goes on behind the scenes. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#going;
    await this.#pool.end();
  }

  /** Makes what is missing. @returns whether there can be an index */
  async #prepare(): Promise<boolean> {
    try {
      const { rows } = await this.#pool.query<{ place: string; isThere: boolean }>(`
        select quote_ident(nspname) as place,
          exists (select 1 from pg_trigger where tgrelid = pg_class.oid and tgname = 'book_search_truncate') as "isThere"
        from pg_class join pg_namespace on pg_namespace.oid = relnamespace where pg_class.oid = to_regclass('books')
      `);
      const [table] = rows;
      // Not to stand in the way of those who write, it waits for them only for a while.
      if (table && !table.isThere) {
        await this.#transact(async (client) => {
          await client.query("set local lock_timeout = '1s'");
          await client.query(schemaOf(table.place));
        });
      }
      return table !== undefined;
    } catch (error) {
      const isRefused = sqlState(error) !== undefined && !PASSING.test(sqlState(error) ?? '');
      if (!isRefused) this.#preparing = undefined;
      if (sqlState(error) === undefined) throw toStoreError(error);
      return false;
    }
  }

  async #goOn(): Promise<void> {
    try {
      while (!this.#isClosed && !(await this.#step())) await sleep(PAUSE_MS);
    } catch {
      // The next search tries again.
    }
    this.#going = undefined;
  }

  async #isBehind(): Promise<boolean> {
    const { rows } = await this.#pool.query<{ isBehind: boolean }>(
      'select exists (select 1 from book_changes) as "isBehind"',
    );
    return rows[0]?.isBehind === true;
  }

  /** Takes in some of what is new, in one transaction. @returns whether that was all of it */
  #step(): Promise<boolean> {
    return this.#transact(async (client) => {
      // What a crash takes of the index, it takes of what has become of the notes, too.
      await client.query('set local synchronous_commit = off');
      // One process at a time; the next one finds the notes that this one has left.
      await client.query('select one from book_search_lock for update');
      const { rows: notes } = await client.query<Note>(TAKE_NOTES, [NOTES_PER_STEP]);
      const isAll = notes.length < NOTES_PER_STEP;
      const ids = notes.filter(({ first, last }) => first === last).map(({ first }) => first);
      const rest = await this.#takeRanges(
        client,
        notes.filter(({ first, last }) => first !== last),
      );
      await this.#replace(client, ids, await booksOf(client, BOOKS_BY_ID, [ids]));
      if (rest.length > 0) {
        const [firsts, lasts] = [rest.map(({ first }) => first), rest.map(({ last }) => last)];
        await client.query(LEAVE_NOTES, [firsts, lasts]);
      }
      return isAll && rest.length === 0;
    });
  }

  /** Takes in what ranges of ids begin with. @returns what is left of them */
  async #takeRanges(client: PoolClient, ranges: readonly Note[]): Promise<Note[]> {
    const rest = [...ranges];
    for (let room = BOOKS_PER_STEP; room > 0 && rest.length > 0; ) {
      const { first, last } = rest.shift() as Note;
      // Some ids are those of books that have gone, and are in the index alone.
      const { rows } = await client.query<{ id: string; total: string }>(NEXT_IDS, [first, last, room]);
      const fitting = rows.filter(({ total }, index) => index === 0 || Number(total) <= BYTES_PER_STEP);
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
    const words: string[] = [];
    const trigrams: string[] = [];
    for (const { title, author } of books) {
      // They are folded in the thread that serves, so the others have their turn in between.
      if (words.length % BOOKS_PER_TURN === 0) await endOfTurn();
      words.push(wordsOf(title, author));
      trigrams.push(`{${trigramsOf(words.at(-1) ?? '').join(',')}}`);
    }
    await client.query(ADD, [
      books.map(({ id }) => id),
      books.map(({ title }) => title),
      books.map(({ author }) => author),
      books.map(({ year }) => year),
      books.map(({ title }) => lowerCase(title)),
      books.map(({ author }) => lowerCase(author)),
      words,
      trigrams,
    ]);
  }

  async #transact<Result>(run: (client: PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.#pool.connect();
    client.on('error', ignoreLoss);
    try {
      await client.query('begin');
      const result = await run(client);
      await client.query('commit');
      client.off('error', ignoreLoss).release();
      return result;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }
}

/** The loss of a connection shows in its query, too. */
function ignoreLoss(): void {}

/** The ids that may have changed, from the first to the last, as text: they may lie beyond those of books. */
interface Note {
  readonly first: string;
  readonly last: string;
}

async function booksOf(client: PoolClient, text: string, values: unknown[]): Promise<Book[]> {
  const { rows } = await client.query<Book>(text, values);
  return rows;
}

/** Somebody else has made the tables, and they are not for us. */
const NOT_ALLOWED = /^42/;

/** A server that is busy may allow it later. */
const PASSING = /^(08|25006|40|53|55|57|XX)/;

/** How long others have between two steps that nobody waits for. */
const PAUSE_MS = 5;

const TAKE_NOTES = `
  delete from book_changes where note in (select note from book_changes order by note limit $1)
  returning first_id::text as first, last_id::text as last
`;
const LEAVE_NOTES = `
  insert into book_changes (first_id, last_id) select * from unnest($1::bigint[], $2::bigint[])
`;
const NEXT_IDS = `
  select id::text as id, sum(bytes) over (order by id) as total
  from (
    (select id, coalesce(octet_length(title), 0) + coalesce(octet_length(author), 0) as bytes from books
      where id between $1::bigint and $2::bigint order by id limit $3)
    union all
    (select id, 0 as bytes from book_search
      where id between $1::bigint and $2::bigint and not exists (select 1 from books where books.id = book_search.id)
      order by id limit $3)
  ) as next
  order by id limit $3
`;
const BOOKS_BY_ID = `select ${BOOK} from books where id = any($1::bigint[])`;
const ADD = `
  insert into book_search (id, title, author, year, title_lower, author_lower, words, trigrams)
  select id, title, author, year, title_lower, author_lower, words, trigrams::integer[]
  from unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[])
    as folded (id, title, author, year, title_lower, author_lower, words, trigrams)
`;
