import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type Book, type BookFields, StoreUnavailable } from '../../book.ts';
import { openConnection, transact } from './connection.ts';
import { isConstraintViolation, toStoreError } from './errors.ts';
import { prepareSchema } from './schema.ts';
import { DELETE, INSERT, UPDATE } from './sql.ts';
import { type Answerer, answerFrom } from './thread.ts';

/** A write, and what it results in: the book as stored, if there is one, or whether one was deleted. */
export type Write =
  | { readonly verb: 'create'; readonly fields: BookFields }
  | { readonly verb: 'update'; readonly id: number; readonly changes: Partial<BookFields> }
  | { readonly verb: 'delete'; readonly id: number };
export type WriteResult = Book | undefined | boolean;

/** The thread that writes. It prepares the file; then all writes that it is handed at once are one transaction. */
class Writer implements Answerer<readonly Write[], WriteResult[]> {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #update: StatementSync;
  readonly #delete: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#insert = database.prepare(INSERT);
    this.#update = database.prepare(UPDATE);
    this.#delete = database.prepare(DELETE);
  }

  /** All of them are committed, or nothing. */
  async answer(writes: readonly Write[]): Promise<WriteResult[]> {
    try {
      return await transact(this.#database, () => writes.map((write) => this.#perform(write)));
    } catch (error) {
      throw toStoreError(error);
    }
  }

  close(): void {
    this.#database.close();
  }

  #perform(write: Write): WriteResult {
    if (write.verb === 'create') return this.#create(write.fields);
    if (write.verb === 'delete') return this.#delete.run(write.id).changes > 0;
    const { title, author, year } = write.changes;
    return this.#update.get(title ?? null, author ?? null, year ?? null, write.id) as Book | undefined;
  }

  #create({ title, author, year }: BookFields): Book {
    try {
      return this.#insert.get(title, author, year) as unknown as Book;
    } catch (error) {
      // The fields are valid, so it is the id: the table has given out the last one.
      throw isConstraintViolation(error) ? new StoreUnavailable('ids are used up') : error;
    }
  }
}

await answerFrom(async (path) => {
  const database = await openConnection(path);
  await transact(database, () => prepareSchema(database));
  return new Writer(database);
});
