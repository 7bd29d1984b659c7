import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Book, ID_MAX, readBook, readBookFields, readBookId } from '../book/book.ts';
import { type BookStore, LEFT_OUT, StoreUnavailable, TableRejection } from '../book/book-store.ts';
import { entityTag } from '../book/entity-tag.ts';
import type { BodyReader } from '../http/body/body-reader.ts';
import { BODY_BYTES_MAX, BOOKS_BYTES_MAX } from '../http/body-limits.ts';
import { readIdempotencyKey } from '../http/idempotency-key.ts';
import { toArray } from '../http/json-array.ts';
import { evaluatePreconditions, isConditional } from '../http/preconditions.ts';
import type { HttpResult } from '../http/response.ts';
import { Invalid } from '../json/invalid.ts';
import { toBookResult } from './book-response.ts';
import { bytesOfBooks, type InvalidBooks, readBooks, readUpdates } from './many-books.ts';
import type { Turns } from './turns.ts';
import { type UnreadLimits, UnreadResponse } from './unread-response.ts';

/** The handlers that create, read, change and delete books (specification, "Endpoints"). All need a token. */
export class BookHandlers {
  readonly #store: BookStore;
  readonly #bodies: BodyReader;
  readonly #unread: UnreadLimits;
  readonly #turns: Turns;

  constructor(store: BookStore, bodies: BodyReader, unread: UnreadLimits, turns: Turns) {
    this.#store = store;
    this.#bodies = bodies;
    this.#unread = unread;
    this.#turns = turns;
  }

  /** POST /book */
  readonly create = async (request: FastifyRequest, reply: FastifyReply): Promise<HttpResult> => {
    const key = readIdempotencyKey(request.headers['idempotency-key']);
    if (key === null) return { outcome: 'invalidIdempotencyKey' };
    const fields = await this.#bodies.read(request.raw, reply.raw, readBook);
    if (typeof fields === 'string') return { outcome: fields };
    if (fields instanceof Invalid) return { outcome: 'invalidInput', detail: fields.detail };
    const book = await (key === undefined ? this.#store.create(fields) : this.#store.createOnce(fields, key));
    if (!book) return { outcome: 'idempotencyKeyReused' };
    return toBookResult('bookCreated', book);
  };

  /** POST /books */
  readonly createMany = async (request: FastifyRequest, reply: FastifyReply): Promise<HttpResult> => {
    const key = readIdempotencyKey(request.headers['idempotency-key']);
    if (key === null) return { outcome: 'invalidIdempotencyKey' };
    const create = async (body: Uint8Array): Promise<HttpResult> => {
      const books = await readBooks(body);
      if (!('json' in books)) return invalidElement(books);
      const response = new UnreadResponse(this.#unread, reply.raw);
      response.hold(lengthOf(books.json) + books.count * ID_BYTES);
      const pages = await this.#store.createMany(books.json, key);
      response.hold(lengthOf(pages ?? []));
      return pages ? { outcome: 'booksCreated', json: toArray(pages) } : { outcome: 'idempotencyKeyReused' };
    };
    const perform = (body: Uint8Array) =>
      body.length > BODY_BYTES_MAX ? this.#turns.take(() => create(body)) : create(body);
    const result = await this.#bodies.read(request.raw, reply.raw, perform, BOOKS_BYTES_MAX);
    return typeof result === 'string' ? { outcome: result } : result;
  };

  /** PATCH /books */
  readonly updateMany = async (request: FastifyRequest, reply: FastifyReply): Promise<HttpResult> => {
    const change = async (body: Uint8Array): Promise<HttpResult> => {
      const updates = await readUpdates(body);
      if (!('json' in updates)) return invalidElement(updates);
      const response = new UnreadResponse(this.#unread, reply.raw);
      response.hold(bytesOfBooks(updates.count));
      const result = await this.#store.updateMany(updates.json);
      response.hold('fault' in result ? 0 : lengthOf(result));
      if (!('fault' in result)) return { outcome: 'booksUpdated', json: toArray(result) };
      if (result.fault === 'too long') return { outcome: 'payloadTooLarge' };
      const outcome = result.fault === 'absent' ? 'bookNotFound' : 'preconditionFailed';
      return { outcome, headers: invalidIndex(result.index) };
    };
    const perform = (body: Uint8Array) => this.#turns.take(() => change(body));
    const result = await this.#bodies.read(request.raw, reply.raw, perform, BOOKS_BYTES_MAX);
    return typeof result === 'string' ? { outcome: result } : result;
  };

  /** GET /book/{id} */
  readonly find = async (request: FastifyRequest): Promise<HttpResult> => {
    const id = bookId(request);
    const book = id === undefined ? undefined : await this.#store.find(id);
    if (!book) return { outcome: 'bookNotFound' };
    const tag = entityTag(book);
    const result = evaluatePreconditions(request.raw, tag);
    if (result === 'notModified') return { outcome: result, headers: { etag: tag } };
    return result === 'met' ? toBookResult('bookRetrieved', book, tag) : { outcome: result };
  };

  /** PUT /book/{id}. 404 takes precedence over 400, so after an invalid body the book is looked up. */
  readonly update = async (request: FastifyRequest, reply: FastifyReply): Promise<HttpResult> => {
    const id = bookId(request);
    if (id === undefined) return { outcome: 'bookNotFound' };
    const fields = await this.#bodies.read(request.raw, reply.raw, readBookFields);
    if (typeof fields === 'string' && fields !== 'payloadTooLarge') return { outcome: fields };
    if (fields instanceof Invalid || fields === 'payloadTooLarge') {
      if (!(await this.#store.find(id))) return { outcome: 'bookNotFound' };
      return fields instanceof Invalid
        ? { outcome: 'invalidInput', detail: fields.detail }
        : { outcome: fields };
    }
    const book = isConditional(request.raw)
      ? await this.#changeIfMet(request, id, (found) => this.#store.updateExpected(found, fields))
      : await this.#changeAny(id, () => this.#store.update(id, fields));
    if (book === 'preconditionFailed') return { outcome: book };
    return book ? toBookResult('bookUpdated', book) : { outcome: 'bookNotFound' };
  };

  /** DELETE /book/{id} */
  readonly delete = async (request: FastifyRequest): Promise<HttpResult> => {
    const id = bookId(request);
    if (id === undefined) return { outcome: 'bookNotFound' };
    const isDeleted = isConditional(request.raw)
      ? await this.#changeIfMet(request, id, (found) => this.#store.deleteExpected(found))
      : await this.#changeAny(id, () => this.#store.delete(id));
    if (isDeleted === 'preconditionFailed') return { outcome: isDeleted };
    return { outcome: isDeleted ? 'bookDeleted' : 'bookNotFound' };
  };

  /** Changes a book. A trigger of the table may leave out the change: then there is the book, also after a repetition. */
  async #changeAny<Result>(
    id: number,
    change: () => Promise<Result | undefined | false>,
  ): Promise<Result | undefined> {
    for (let attempt = 1; attempt <= LEFT_OUT_ATTEMPTS; attempt++) {
      const result = await change();
      if (result) return result;
      if (!(await this.#store.find(id))) return undefined;
    }
    throw new TableRejection(LEFT_OUT);
  }

  /** Changes a book only as it was when its preconditions were met; evaluates them again after a concurrent change. */
  async #changeIfMet<Result>(
    { raw }: FastifyRequest,
    id: number,
    change: (expected: Book) => Promise<Result | undefined | false>,
  ): Promise<Result | 'preconditionFailed' | undefined> {
    let last: string | undefined;
    let repetitions = 0;
    for (let attempt = 1; attempt <= CHANGE_ATTEMPTS_MAX; attempt++) {
      const found = await this.#store.find(id);
      if (!found) return undefined;
      const tag = entityTag(found);
      if (evaluatePreconditions(raw, tag) !== 'met') return 'preconditionFailed';
      // Without a concurrent change, a trigger of the table leaves out this one.
      repetitions = tag === last ? repetitions + 1 : 0;
      if (repetitions === LEFT_OUT_ATTEMPTS) throw new TableRejection(LEFT_OUT);
      last = tag;
      const result = await change(found);
      if (result) return result;
    }
    throw new StoreUnavailable('contention');
  }
}

/** Attempts of a change of a book that does not change meanwhile: another program may delete and restore it between two of them. */
const LEFT_OUT_ATTEMPTS = 3;
/** The most that the id of a new book adds to its JSON. */
const ID_BYTES = `"id":${ID_MAX},`.length;

function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

/** Attempts of a conditional change. Each failure means that a concurrent change succeeded. */
export const CHANGE_ATTEMPTS_MAX = 100;

/** The response to an array of which an element is invalid, or that is none. */
export function invalidElement({ invalidIndex: index, detail }: InvalidBooks): HttpResult {
  return { outcome: 'invalidInput', detail, headers: index === undefined ? {} : invalidIndex(index) };
}

export function invalidIndex(index: number): Record<string, string> {
  return { 'invalid-index': `${index}` };
}

/** The id in the path; undefined when no book can have it. */
export function bookId(request: FastifyRequest): number | undefined {
  return readBookId((request.params as { id: string }).id);
}
