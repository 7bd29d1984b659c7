import type { Book, BookFields } from '../../../book/book.ts';
import { StoreUnavailable } from '../../../book/book-store-interface.ts';
import { BatchQueue } from '../../batch-queue.ts';
import { fingerprintOf, KEY_REMOVAL_MAX, KEY_REMOVAL_MS } from '../../idempotency.ts';
import type { StoreObserver } from '../../observer.ts';
import { IdsExhausted } from '../../store-errors.ts';
import { BATCH_LIMITS, textLength } from '../../store-limits.ts';
import { sqlState, violatedConstraint } from '../errors.ts';
import { ID_CHECK, KEY_CONSTRAINT } from '../migrations.ts';
import type { Database } from '../pool/database.ts';
import {
  columnsOf,
  DELETE_EXPIRED_KEY,
  DELETE_EXPIRED_KEYS,
  INSERT,
  INSERT_MANY,
  INSERT_ONCE,
  SELECT_KEY,
  type Statement,
} from '../sql.ts';

/** A book that is to be created once. */
interface KeyedBook {
  readonly fields: BookFields;
  readonly key: string;
}

const [OPEN, COMMA, CLOSE] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];

/** How often a key is tried anew that turns out to have expired. */
const KEY_ATTEMPTS_MAX = 3;

/** Creates books. */
export class Inserts {
  readonly #database: Database;
  readonly #bulkDatabase: Database;
  readonly #creates: BatchQueue<BookFields, Book>;
  readonly #keyedCreates: BatchQueue<KeyedBook, Book | undefined>;
  readonly #manyCreates: BatchQueue<readonly Uint8Array[], Uint8Array[]>;
  #removalDueAt = 0;

  /** @param bulkDatabase the same database over a pool with a longer statement timeout */
  constructor(database: Database, bulkDatabase: Database, observer: StoreObserver | undefined) {
    this.#database = database;
    this.#bulkDatabase = bulkDatabase;
    const options = { ...BATCH_LIMITS, observer };
    this.#creates = new BatchQueue((books) => this.#createAll(books), {
      ...options,
      name: 'create',
      textOf: (fields) => textLength(fields),
    });
    this.#keyedCreates = new BatchQueue((books) => this.#createAllOnce(books), {
      ...options,
      name: 'create_once',
      keyOf: ({ key }) => key,
      textOf: ({ fields }) => textLength(fields),
    });
    this.#manyCreates = new BatchQueue(([books]) => this.#createMany(books as readonly Uint8Array[]), {
      ...options,
      name: 'create_many',
      batchItemsMax: 1,
    });
  }

  create(fields: BookFields): Promise<Book> {
    return this.#creates.add(fields);
  }

  createOnce(fields: BookFields, key: string): Promise<Book | undefined> {
    void this.#removeExpiredKeys();
    return this.#keyedCreates.add({ fields, key });
  }

  createMany(books: readonly Uint8Array[]): Promise<Uint8Array[]> {
    return this.#manyCreates.add(books);
  }

  /** Lets the calls made so far finish. */
  async close(): Promise<void> {
    await Promise.all([this.#creates, this.#keyedCreates, this.#manyCreates].map((calls) => calls.close()));
    await this.#bulkDatabase.close();
  }

  async #createAll(books: readonly BookFields[]): Promise<Book[]> {
    return matchCreated(books, await this.#insert<Book>(INSERT, columnsOf(books)));
  }

  /** One statement is one transaction, also on engines that know no other; so it takes all of them as one text. */
  async #createMany(books: readonly Uint8Array[]): Promise<[Uint8Array[]]> {
    const elements = books.flatMap((array) => [COMMA, array.subarray(1, -1)]).slice(1);
    const joined = Buffer.concat([OPEN, ...elements, CLOSE]);
    const [row] = await this.#insert<{ json: string }>(INSERT_MANY, [joined], this.#bulkDatabase);
    return [[Buffer.from(row?.json ?? '')]];
  }

  async #createAllOnce(books: readonly KeyedBook[]): Promise<(Book | undefined | IdsExhausted)[]> {
    const values = [
      ...columnsOf(books.map(({ fields }) => fields)),
      books.map(({ key }) => key),
      books.map(({ fields }) => fingerprintOf(fields)),
    ];
    for (let attempt = 1; attempt <= KEY_ATTEMPTS_MAX; attempt++) {
      try {
        const rows = await this.#insert<{ key: string; id: number }>(INSERT_ONCE, values);
        const ids = new Map(rows.map(({ key, id }) => [key, id]));
        return books.map(({ fields, key }) => ({ id: ids.get(key) as number, ...fields }));
      } catch (error) {
        if (error instanceof IdsExhausted) return await this.#findAllCreated(books, error);
        const [book, ...others] = books;
        // Of several books the batch sends each alone.
        if (violatedConstraint(error) !== KEY_CONSTRAINT || !book || others.length > 0) throw error;
        const first = await this.#findCreated(book);
        if (first) return [toResult(first)];
        await this.#database.query(DELETE_EXPIRED_KEY, [book.key]);
      }
    }
    throw new StoreUnavailable('a key keeps expiring');
  }

  /** The books that keys have created; `otherwise` where a key is new. */
  async #findAllCreated(
    books: readonly KeyedBook[],
    otherwise: IdsExhausted,
  ): Promise<(Book | undefined | IdsExhausted)[]> {
    const results = [];
    for (const book of books) {
      const first = await this.#findCreated(book);
      results.push(first ? toResult(first) : otherwise);
    }
    return results;
  }

  /** The book that a key has created, as it was then; undefined when the key has expired. */
  async #findCreated({ fields, key }: KeyedBook): Promise<Book | 'another book' | undefined> {
    const [row] = await this.#database.query<{ id: number; fingerprint: string }>(SELECT_KEY, [key]);
    if (!row) return undefined;
    return row.fingerprint === fingerprintOf(fields) ? { id: row.id, ...fields } : 'another book';
  }

  async #insert<Row extends object>(
    statement: Statement,
    values: unknown[],
    database = this.#database,
  ): Promise<Row[]> {
    const insert = () => database.query<Row>(statement, values);
    return insertWithUnusedIds(insert, () => database.advanceIdSequence());
  }

  /** Removes what is too old, now and then. What fails is done the next time. */
  async #removeExpiredKeys(): Promise<void> {
    if (performance.now() < this.#removalDueAt) return;
    this.#removalDueAt = performance.now() + KEY_REMOVAL_MS;
    const removed = await this.#database.query(DELETE_EXPIRED_KEYS, []).catch(() => []);
    if (removed.length === KEY_REMOVAL_MAX) this.#removalDueAt = performance.now();
  }
}

function toResult(first: Book | 'another book'): Book | undefined {
  return first === 'another book' ? undefined : first;
}

/**
 * Inserts books; when another client has inserted books under ids that the sequence has not reached, advances it and
 * inserts once more.
 *
 * @throws IdsExhausted when no id is left; else what `insert` throws
 */
export async function insertWithUnusedIds<Result>(
  insert: () => Promise<Result>,
  advanceIdSequence: () => Promise<void>,
): Promise<Result> {
  try {
    return await insert();
  } catch (error) {
    const constraint = violatedConstraint(error);
    if (constraint === ID_CHECK) throw new IdsExhausted();
    if (sqlState(error) !== '23505' || constraint === KEY_CONSTRAINT) throw error;
    await advanceIdSequence();
    return insert();
  }
}

/**
 * The rows in the order of the books they were made from. PostgreSQL returns them so, but nothing promises it, and
 * other engines do not; so a row out of place goes to a caller who asked for the like of it.
 */
function matchCreated(books: readonly BookFields[], rows: readonly Book[]): Book[] {
  if (books.every((book, index) => isSame(book, rows[index]))) return [...rows];

  const unclaimed = Map.groupBy(rows, ({ title, author, year }) => JSON.stringify([title, author, year]));
  return books.map(({ title, author, year }) => {
    const row = unclaimed.get(JSON.stringify([title, author, year]))?.pop();
    if (!row) throw new Error('a created book was not returned');
    return row;
  });
}

function isSame(book: BookFields, row: Book | undefined): boolean {
  return (
    row !== undefined && row.title === book.title && row.author === book.author && row.year === book.year
  );
}
