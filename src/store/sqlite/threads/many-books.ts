import type { DatabaseSync } from 'node:sqlite';
import { LEFT_OUT, TableRejection, UPDATED_BYTES_MAX, type UpdateFault } from '../../../book/book-store.ts';
import type { UpdateItem } from '../../../book/book-update.ts';
import type { Book, BookFields } from '../../../book/contract.ts';
import { entityTag } from '../../../book/entity-tag.ts';
import { createdBooks, fingerprintOfMany } from '../../idempotency.ts';
import { joinBooks, toBook, toUtf8, toValues, withCommas } from '../book-columns.ts';
import { toTableRejection } from '../table-rejections.ts';
import type { WriteStatements } from '../write-statements.ts';
import type { IdempotencyKeys } from './idempotency-keys.ts';

/** `createMany` and `updateMany` of the store, in the transactions of the write thread. */
export class ManyBooks {
  readonly #database: DatabaseSync;
  readonly #statements: WriteStatements;
  readonly #keys: IdempotencyKeys;

  constructor(database: DatabaseSync, statements: WriteStatements, keys: IdempotencyKeys) {
    this.#database = database;
    this.#statements = statements;
    this.#keys = keys;
  }

  create(books: readonly Uint8Array[], key?: string): Uint8Array[] | undefined {
    if (key === undefined) return this.#insertMany(books);
    const fingerprint = fingerprintOfMany(books);
    const known = this.#keys.find(key, fingerprint);
    if (known !== undefined) return known === 'other request' ? undefined : createdBooks(known, books);
    const pages = this.#insertMany(books);
    // Only keys of earlier versions need the id of the first book.
    this.#keys.add(key, fingerprint, {
      id: 0,
      created: Buffer.concat([Buffer.from('['), ...withCommas(pages), Buffer.from(']')]),
    });
    return pages;
  }

  #insertMany(books: readonly Uint8Array[]): Uint8Array[] {
    const { selectHighestId, insertMany, selectAbove, countElements } = this.#statements;
    let stored = 0;
    return books.map((array) => {
      const { id } = selectHighestId.get() as { id: number };
      const { count } = countElements.get(array) as { count: number };
      try {
        this.#allOrNone(() => {
          if (Number(insertMany.run(array).changes) < count) throw new TableRejection(LEFT_OUT);
        });
      } catch (error) {
        throw toTableRejection(this.#database, error, () => {
          const index = this.#findRejected(array);
          return index === -1 ? undefined : stored + index;
        });
      }
      stored += count;
      return (selectAbove.get(id) as { json: Uint8Array }).json;
    });
  }

  /** The index of the first book of an array that the table rejects. The transaction will be rolled back. */
  #findRejected(array: Uint8Array): number {
    const books = JSON.parse(Buffer.from(array).toString()) as BookFields[];
    return books.findIndex((fields) => {
      try {
        return !this.#statements.insert.get(...toValues(fields));
      } catch {
        return true;
      }
    });
  }

  /** Undoes the writes of an operation that throws; those of the other calls of the batch remain. */
  #allOrNone<Result>(operation: () => Result): Result {
    this.#database.exec('savepoint many');
    try {
      return operation();
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('rollback to many');
      throw error;
    } finally {
      if (this.#database.isTransaction) this.#database.exec('release many');
    }
  }

  update(arrays: readonly Uint8Array[]): Uint8Array[] | UpdateFault {
    const fault = this.#findFault(arrays);
    if (fault) return fault;
    try {
      return this.#allOrNone(() => this.#updateAll(arrays));
    } catch (error) {
      if (error === TOO_LONG) return TOO_LONG;
      throw error;
    }
  }

  /** @throws TOO_LONG */
  #updateAll(arrays: readonly Uint8Array[]): Uint8Array[] {
    const { select, render, update, delete: remove } = this.#statements;
    let bytes = 0;
    let index = -1;
    return arrays.map((array) => {
      const books = updatesIn([array]).map(({ id, isDeleted, ...fields }) => {
        index++;
        try {
          const { changes } = isDeleted ? remove.run(id) : update.run(...toValues(fields), id);
          // The deletion of another book may have deleted this one, too.
          if (changes === 0 && !(isDeleted && !select.get(id))) throw new TableRejection(LEFT_OUT);
        } catch (error) {
          throw toTableRejection(this.#database, error, () => index);
        }
        const json = isDeleted ? NULL : toUtf8((render.get(id) as { json: Uint8Array }).json);
        bytes += json.length;
        if (bytes > UPDATED_BYTES_MAX) throw TOO_LONG;
        return json;
      });
      return joinBooks([...books]);
    });
  }

  #findFault(arrays: readonly Uint8Array[]): UpdateFault | undefined {
    const { select, selectBytes } = this.#statements;
    const bytesOf = ({ id }: UpdateItem) => selectBytes.get(id)?.bytes as number | undefined;
    const bytes = updatesIn(arrays).reduce((sum, update) => sum + (bytesOf(update) ?? 0), 0);
    if (bytes > UPDATED_BYTES_MAX) return TOO_LONG;
    let index = 0;
    for (const update of updatesIn(arrays)) {
      if (bytesOf(update) === undefined) return { fault: 'absent', index };
      const { id, tags } = update;
      if (tags !== undefined && !tags.includes(entityTag(toBook(select.get(id)) as Book)))
        return { fault: 'other tag', index };
      index++;
    }
    return undefined;
  }
}

const TOO_LONG: UpdateFault = { fault: 'too long', index: 0 };
const NULL = Buffer.from('null');

/** Parses one array at a time: together, the texts may need more memory than the thread has. */
function* updatesIn(arrays: readonly Uint8Array[]): Generator<UpdateItem, undefined> {
  for (const array of arrays) yield* JSON.parse(Buffer.from(array).toString()) as UpdateItem[];
}
