import type { FastifyRequest } from 'fastify';
import { hasFields, readBook, readBookFields } from '../book/book.ts';
import { type BookStore, LEFT_OUT, StoreUnavailable, TableRejection } from '../book/book-store.ts';
import type { Book } from '../book/contract.ts';
import { entityTag } from '../book/entity-tag.ts';
import { type BodyRequest, parseBody } from '../http/body/body-reader.ts';
import { readIdempotencyKey } from '../http/idempotency-key.ts';
import type { OutcomeName } from '../http/outcomes.ts';
import { evaluatePreconditions, isConditional } from '../http/preconditions.ts';
import { Rejection } from '../http/rejection.ts';
import type { HttpResult } from '../http/response.ts';
import { idInPath, toBookResult, WRITE_ATTEMPTS_MAX } from './one-book.ts';

/** The handlers of single books (specification, "Endpoints"). All need a token. */
export class BookHandlers {
  readonly #store: BookStore;

  constructor(store: BookStore) {
    this.#store = store;
  }

  /** POST /book */
  readonly create = async (request: BodyRequest): Promise<HttpResult> => {
    const key = readIdempotencyKey(request.headers);
    if (key instanceof Rejection) return key;
    const fields = parseBody(request, readBook);
    if (fields instanceof Rejection) return fields;
    const book = await (key === undefined ? this.#store.create(fields) : this.#store.createOnce(fields, key));
    return book ? toBookResult('bookCreated', book) : { outcome: 'idempotencyKeyReused' };
  };

  /** GET /book/{id} */
  readonly find = async (request: FastifyRequest): Promise<HttpResult> => {
    const book = await this.#store.find(idInPath(request));
    if (!book) return { outcome: 'bookNotFound' };
    const tag = entityTag(book);
    const result = evaluatePreconditions(request, tag);
    if (result === 'notModified') return { outcome: result, headers: { etag: tag } };
    return result === 'met' ? toBookResult('bookRetrieved', book, tag) : { outcome: result };
  };

  /** PUT /book/{id} */
  readonly update = async (request: BodyRequest): Promise<HttpResult> => {
    const id = idInPath(request);
    const fields = parseBody(request, readBookFields);
    if (fields instanceof Rejection)
      return AFTER_NOT_FOUND.has(fields.outcome) && !(await this.#store.find(id))
        ? { outcome: 'bookNotFound' }
        : fields;
    const book = await this.#write(request, id, {
      write: () => this.#store.update(id, fields),
      writeExpected: (found) => this.#store.updateExpected(found, fields),
      // A trigger may leave out updates that change nothing (`suppress_redundant_updates_trigger`).
      whenLeftOut: (found) => (hasFields(found, fields) ? found : undefined),
    });
    return book instanceof Rejection ? book : toBookResult('bookUpdated', book);
  };

  /** DELETE /book/{id} */
  readonly delete = async (request: FastifyRequest): Promise<HttpResult> => {
    const id = idInPath(request);
    const isDeleted = await this.#write(request, id, {
      write: () => this.#store.delete(id),
      writeExpected: (found) => this.#store.deleteExpected(found),
    });
    return isDeleted instanceof Rejection ? isDeleted : { outcome: 'bookDeleted' };
  };

  /**
   * Updates or deletes a book. If its preconditions are met, it must still be as it was then: after a concurrent write they are evaluated
   * again. A write without preconditions takes this way, too, if it finds no book, as a trigger of the table may have left out the write.
   */
  async #write<Result>(
    request: FastifyRequest,
    id: number,
    { write, writeExpected, whenLeftOut }: Write<Result>,
  ): Promise<Result | Rejection> {
    const written = isConditional(request) ? undefined : await write();
    if (written) return written;
    let last: string | undefined;
    let repetitions = 0;
    for (let attempt = 1; attempt <= WRITE_ATTEMPTS_MAX; attempt++) {
      const found = await this.#store.find(id);
      if (!found) return new Rejection('bookNotFound');
      const tag = entityTag(found);
      if (evaluatePreconditions(request, tag) !== 'met') return new Rejection('preconditionFailed');
      // Without a concurrent write, a trigger of the table leaves out this one.
      repetitions = tag === last ? repetitions + 1 : 0;
      if (repetitions === LEFT_OUT_ATTEMPTS) throw new TableRejection(LEFT_OUT);
      last = tag;
      const result = (await writeExpected(found)) || whenLeftOut?.(found);
      if (result) return result;
    }
    throw new StoreUnavailable('contention');
  }
}

/** How a book is updated or deleted. */
interface Write<Result> {
  /** @returns undefined or false when there is no book */
  readonly write: () => Promise<Result | undefined | false>;
  /** @returns undefined or false when the book is not as expected */
  readonly writeExpected: (expected: Book) => Promise<Result | undefined | false>;
  /** The result if the book is already as it would be written. */
  readonly whenLeftOut?: (found: Book) => Result | undefined;
}

/** What is wrong with the body of a PUT, over which 404 takes precedence (specification, "PUT /book/{id}"). */
const AFTER_NOT_FOUND: ReadonlySet<OutcomeName> = new Set(['invalidInput', 'payloadTooLarge']);

/** Attempts of a write of a book that stays the same meanwhile: another program may delete and restore it between two of them. */
const LEFT_OUT_ATTEMPTS = 3;
