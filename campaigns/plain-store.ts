import { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { type ListPage, StoreUnavailable } from '../src/book/book-store.ts';
import type { UpdateItem } from '../src/book/book-update.ts';
import type { Book, BookFields } from '../src/book/contract.ts';
import type { OpenStore, StoreConnection } from '../src/store/engine.ts';

/** The faults of a {@link PlainStore}. */
interface PlantedFaults {
  /** How long after the response a write is committed, in milliseconds. */
  readonly commitAfterMs?: number;
  readonly synchronous?: 'full' | 'normal';
  readonly isAutoincrement?: boolean;
}

const NO_HISTORY = () => Promise.reject(new StoreUnavailable('no history'));

const BOOK = 'id, title, author, year';

/** The simplest store on SQLite: one statement a call. Without options it is correct. */
export class PlainStore implements OpenStore {
  readonly connection: StoreConnection;
  readonly #database: DatabaseSync;
  readonly #commitAfterMs: number;

  constructor(
    path: string,
    { commitAfterMs = 0, synchronous = 'full', isAutoincrement = true }: PlantedFaults,
  ) {
    this.connection = { engine: 'sqlite', path, write: NO_HISTORY };
    this.#database = new DatabaseSync(path, { timeout: 5_000 });
    this.#commitAfterMs = commitAfterMs;
    this.#database.exec(`
      pragma journal_mode = wal;
      pragma synchronous = ${synchronous};
      create table if not exists books (
        id integer primary key ${isAutoincrement ? 'autoincrement' : ''}, title text, author text, year integer
      )
    `);
  }

  async create({ title, author, year }: BookFields): Promise<Book> {
    return this.#write(
      `insert into books (title, author, year) values (?, ?, ?) returning ${BOOK}`,
      title,
      author,
      year,
    ) as Book;
  }

  createOnce(fields: BookFields): Promise<Book> {
    return this.create(fields);
  }

  async createMany(books: readonly Uint8Array[]): Promise<Uint8Array[]> {
    const all = books.flatMap((array) => JSON.parse(Buffer.from(array).toString()) as BookFields[]);
    const created = await Promise.all(all.map((fields) => this.create(fields)));
    return [Buffer.from(created.map((book) => JSON.stringify(book)).join(','))];
  }

  async updateMany(changes: readonly Uint8Array[]): Promise<Uint8Array[]> {
    const all = changes.flatMap((array) => JSON.parse(Buffer.from(array).toString()) as UpdateItem[]);
    const books = all.map(({ id, isDeleted, ...fields }) =>
      isDeleted ? this.delete(id) : this.update(id, fields),
    );
    const stored = (await Promise.all(books)).map((book) =>
      JSON.stringify(typeof book === 'object' ? book : null),
    );
    return [Buffer.from(stored.join(','))];
  }

  async find(id: number): Promise<Book | undefined> {
    return this.#database.prepare(`select ${BOOK} from books where id = ?`).get(id) as Book | undefined;
  }

  async list(): Promise<ListPage> {
    const books = this.#database.prepare(`select ${BOOK} from books order by id`).all();
    return { json: Buffer.from(books.map((book) => JSON.stringify(book)).join(',')), last: undefined };
  }

  async update(id: number, { title, author, year }: Partial<BookFields>): Promise<Book | undefined> {
    return this.#write(
      `update books set title = coalesce(?, title), author = coalesce(?, author), year = coalesce(?, year)
       where id = ? returning ${BOOK}`,
      title ?? null,
      author ?? null,
      year ?? null,
      id,
    );
  }

  async delete(id: number): Promise<boolean> {
    return this.#write('delete from books where id = ? returning id', id) !== undefined;
  }

  async updateExpected(expected: Book, changes: Partial<BookFields>): Promise<Book | undefined> {
    return isDeepStrictEqual({ ...(await this.find(expected.id)) }, expected)
      ? this.update(expected.id, changes)
      : undefined;
  }

  async deleteExpected(expected: Book): Promise<boolean> {
    return isDeepStrictEqual({ ...(await this.find(expected.id)) }, expected) && this.delete(expected.id);
  }

  async check(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {
    this.#database.close();
  }

  #write(statement: string, ...values: (string | number | null)[]): Book | undefined {
    if (this.#commitAfterMs > 0 && !this.#database.isTransaction) {
      this.#database.exec('begin immediate');
      setTimeout(() => this.#database.exec('commit'), this.#commitAfterMs);
    }
    return this.#database.prepare(statement).get(...values) as unknown as Book | undefined;
  }
}
