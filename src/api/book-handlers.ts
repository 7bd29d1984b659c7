import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Book, hasFields, ID_MAX, readBook, readBookFields } from '../book/book.ts';
import {
  type BookStore,
  LEFT_OUT,
  StoreUnavailable,
  TableRejection,
  type UpdateFault,
} from '../book/book-store.ts';
import { entityTag } from '../book/entity-tag.ts';
import { type BodyRequest, readBody } from '../http/body/body-reader.ts';
import { BODY_BYTES_MAX } from '../http/body-limits.ts';
import { readIdempotencyKey } from '../http/idempotency-key.ts';
import { toArray } from '../http/json-array.ts';
import type { OutcomeName } from '../http/outcomes.ts';
import { evaluatePreconditions, isConditional } from '../http/preconditions.ts';
import { Rejection } from '../http/rejection.ts';
import type { HttpResult } from '../http/response.ts';
import { idInPath } from './book-id.ts';
import { toBookResult } from './book-response.ts';
import { bytesOfBooks, invalidIndex, readBooks, readUpdates } from './many-books.ts';
import type { Turns } from './turns.ts';
import { type UnreadLimits, UnreadResponse } from './unread-response.ts';

/** The handlers that create, read, change and delete books (specification, "Endpoints"). All need a token. */
export class BookHandlers {
  readonly #store: BookStore;
  readonly #unread: UnreadLimits;
  readonly #turns: Turns;

  constructor(store: BookStore, unread: UnreadLimits, turns: Turns) {
    this.#store = store;
    this.#unread = unread;
    this.#turns = turns;
  }

  /** POST /book */
  readonly create = async (request: BodyRequest): Promise<HttpResult> => {
    const key = readIdempotencyKey(request.headers);
    if (key instanceof Rejection) return key;
    const fields = readBody(request, readBook);
    if (fields instanceof Rejection) return fields;
    const book = await (key === undefined ? this.#store.create(fields) : this.#store.createOnce(fields, key));
    return book ? toBookResult('bookCreated', book) : { outcome: 'idempotencyKeyReused' };
  };

  /** POST /books */
  readonly createMany = async ({ headers, body }: BodyRequest, reply: FastifyReply): Promise<HttpResult> => {
    const key = readIdempotencyKey(headers);
    if (key instanceof Rejection) return key;
    if (body instanceof Rejection) return body;
    const create = async (): Promise<HttpResult> => {
      const books = await readBooks(body);
      if (books instanceof Rejection) return books;
      const response = new UnreadResponse(this.#unread, reply);
      await response.holdSoon(lengthOf(books.json) + books.count * ID_BYTES);
      const pages = await this.#store.createMany(books.json, key);
      if (!pages) return { outcome: 'idempotencyKeyReused' };
      response.hold(lengthOf(pages));
      return { outcome: 'booksCreated', json: toArray(pages) };
    };
    return body.length > BODY_BYTES_MAX ? this.#turns.take(reply, create) : create();
  };

  /** PATCH /books */
  readonly updateMany = async ({ body }: BodyRequest, reply: FastifyReply): Promise<HttpResult> => {
    if (body instanceof Rejection) return body;
    return this.#turns.take(reply, async () => {
      const updates = await readUpdates(body);
      if (updates instanceof Rejection) return updates;
      const response = new UnreadResponse(this.#unread, reply);
      await response.holdSoon(bytesOfBooks(updates.count));
      const result = await this.#store.updateMany(updates.json);
      if ('fault' in result) return rejectUpdate(result);
      response.hold(lengthOf(result));
      return { outcome: 'booksUpdated', json: toArray(result) };
    });
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
    const fields = readBody(request, readBookFields);
    if (fields instanceof Rejection)
      return AFTER_NOT_FOUND.has(fields.outcome) && !(await this.#store.find(id))
        ? { outcome: 'bookNotFound' }
        : fields;
    const book = await this.#change(request, id, {
      change: () => this.#store.update(id, fields),
      changeExpected: (found) => this.#store.updateExpected(found, fields),
      // A trigger may leave out updates that change nothing (`suppress_redundant_updates_trigger`).
      whenLeftOut: (found) => (hasFields(found, fields) ? found : undefined),
    });
    return book instanceof Rejection ? book : toBookResult('bookUpdated', book);
  };

  /** DELETE /book/{id} */
  readonly delete = async (request: FastifyRequest): Promise<HttpResult> => {
    const id = idInPath(request);
    const isDeleted = await this.#change(request, id, {
      change: () => this.#store.delete(id),
      changeExpected: (found) => this.#store.deleteExpected(found),
    });
    return isDeleted instanceof Rejection ? isDeleted : { outcome: 'bookDeleted' };
  };

  #change<Result>(
    request: FastifyRequest,
    id: number,
    steps: ChangeSteps<Result>,
  ): Promise<Result | Rejection> {
    return isConditional(request) ? this.#changeIfMet(request, id, steps) : this.#changeAny(id, steps);
  }

  /** Changes a book. A trigger of the table may leave out the change: then there is the book, also after a repetition. */
  async #changeAny<Result>(
    id: number,
    { change, whenLeftOut }: ChangeSteps<Result>,
  ): Promise<Result | Rejection> {
    for (let attempt = 1; attempt <= LEFT_OUT_ATTEMPTS; attempt++) {
      const result = await change();
      if (result) return result;
      const found = await this.#store.find(id);
      if (!found) return new Rejection('bookNotFound');
      const same = whenLeftOut?.(found);
      if (same) return same;
    }
    throw new TableRejection(LEFT_OUT);
  }

  /** Changes a book only as it was when its preconditions were met; evaluates them again after a concurrent change. */
  async #changeIfMet<Result>(
    request: FastifyRequest,
    id: number,
    { changeExpected, whenLeftOut }: ChangeSteps<Result>,
  ): Promise<Result | Rejection> {
    let last: string | undefined;
    let repetitions = 0;
    for (let attempt = 1; attempt <= CHANGE_ATTEMPTS_MAX; attempt++) {
      const found = await this.#store.find(id);
      if (!found) return new Rejection('bookNotFound');
      const tag = entityTag(found);
      if (evaluatePreconditions(request, tag) !== 'met') return new Rejection('preconditionFailed');
      // Without a concurrent change, a trigger of the table leaves out this one.
      repetitions = tag === last ? repetitions + 1 : 0;
      if (repetitions === LEFT_OUT_ATTEMPTS) throw new TableRejection(LEFT_OUT);
      last = tag;
      const result = (await changeExpected(found)) || whenLeftOut?.(found);
      if (result) return result;
    }
    throw new StoreUnavailable('contention');
  }
}

/** How a book is changed. */
interface ChangeSteps<Result> {
  /** @returns undefined or false when there is no book */
  readonly change: () => Promise<Result | undefined | false>;
  /** @returns undefined or false when the book is not as expected */
  readonly changeExpected: (expected: Book) => Promise<Result | undefined | false>;
  /** The result if the book needs no change. */
  readonly whenLeftOut?: (found: Book) => Result | undefined;
}

/** What is wrong with the body of a PUT, over which 404 takes precedence (specification, "PUT /book/{id}"). */
const AFTER_NOT_FOUND: ReadonlySet<OutcomeName> = new Set(['invalidInput', 'payloadTooLarge']);

/** Attempts of a change of a book that does not change meanwhile: another program may delete and restore it between two of them. */
const LEFT_OUT_ATTEMPTS = 3;
/** The most that the id of a new book adds to its JSON. */
const ID_BYTES = `"id":${ID_MAX},`.length;

function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

function rejectUpdate({ fault, index }: UpdateFault): Rejection {
  if (fault === 'too long') return new Rejection('payloadTooLarge');
  const outcome = fault === 'absent' ? 'bookNotFound' : 'preconditionFailed';
  return new Rejection(outcome, { headers: invalidIndex(index) });
}

/** Attempts of a conditional change. Each failure means that a concurrent change succeeded. */
export const CHANGE_ATTEMPTS_MAX = 100;
