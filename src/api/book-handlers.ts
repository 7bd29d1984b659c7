import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Book, type BookFields, ID_MAX, readBook, readBookFields, readBookId } from '../book/book.ts';
import { type BookStore, LEFT_OUT, StoreUnavailable, TableRejection } from '../book/book-store.ts';
import { entityTag } from '../book/entity-tag.ts';
import type { BodyRequest } from '../http/body/body-reader.ts';
import { BODY_BYTES_MAX } from '../http/body-limits.ts';
import { readIdempotencyKey } from '../http/idempotency-key.ts';
import { toArray } from '../http/json-array.ts';
import { evaluatePreconditions, isConditional } from '../http/preconditions.ts';
import { type HttpResult, send } from '../http/response.ts';
import { Invalid } from '../json/invalid.ts';
import { toBookResult } from './book-response.ts';
import { bytesOfBooks, type InvalidBooks, readBooks, readUpdates } from './many-books.ts';
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
  readonly create = async ({ headers, body }: BodyRequest): Promise<HttpResult> => {
    const key = readIdempotencyKey(headers['idempotency-key']);
    if (key === null) return { outcome: 'invalidIdempotencyKey' };
    if (typeof body === 'string') return { outcome: body };
    const fields = readBook(body);
    if (fields instanceof Invalid) return { outcome: 'invalidInput', detail: fields.detail };
    const book = await (key === undefined ? this.#store.create(fields) : this.#store.createOnce(fields, key));
    if (!book) return { outcome: 'idempotencyKeyReused' };
    return toBookResult('bookCreated', book);
  };

  /** POST /books */
  readonly createMany = async ({ headers, body }: BodyRequest, reply: FastifyReply): Promise<HttpResult> => {
    const key = readIdempotencyKey(headers['idempotency-key']);
    if (key === null) return { outcome: 'invalidIdempotencyKey' };
    if (typeof body === 'string') return { outcome: body };
    const create = async (): Promise<HttpResult> => {
      const books = await readBooks(body);
      if (!('json' in books)) return invalidElement(books);
      const response = new UnreadResponse(this.#unread, reply);
      await response.holdSoon(lengthOf(books.json) + books.count * ID_BYTES);
      const pages = await this.#store.createMany(books.json, key);
      response.hold(lengthOf(pages ?? []));
      return pages ? { outcome: 'booksCreated', json: toArray(pages) } : { outcome: 'idempotencyKeyReused' };
    };
    return body.length > BODY_BYTES_MAX ? this.#turns.take(reply, create) : create();
  };

  /** PATCH /books */
  readonly updateMany = async ({ body }: BodyRequest, reply: FastifyReply): Promise<HttpResult> => {
    if (typeof body === 'string') return { outcome: body };
    return this.#turns.take(reply, async () => {
      const updates = await readUpdates(body);
      if (!('json' in updates)) return invalidElement(updates);
      const response = new UnreadResponse(this.#unread, reply);
      await response.holdSoon(bytesOfBooks(updates.count));
      const result = await this.#store.updateMany(updates.json);
      response.hold('fault' in result ? 0 : lengthOf(result));
      if (!('fault' in result)) return { outcome: 'booksUpdated', json: toArray(result) };
      if (result.fault === 'too long') return { outcome: 'payloadTooLarge' };
      const outcome = result.fault === 'absent' ? 'bookNotFound' : 'preconditionFailed';
      return { outcome, headers: invalidIndex(result.index) };
    });
  };

  /** GET /book/{id} */
  readonly find = async (request: FastifyRequest): Promise<HttpResult> => {
    const book = await this.#store.find(bookId(request));
    if (!book) return { outcome: 'bookNotFound' };
    const tag = entityTag(book);
    const result = evaluatePreconditions(request, tag);
    if (result === 'notModified') return { outcome: result, headers: { etag: tag } };
    return result === 'met' ? toBookResult('bookRetrieved', book, tag) : { outcome: result };
  };

  /** PUT /book/{id}. 404 takes precedence over 400, so after an invalid body the book is looked up. */
  readonly update = async (request: BodyRequest): Promise<HttpResult> => {
    const id = bookId(request);
    const { body } = request;
    if (typeof body === 'string' && body !== 'payloadTooLarge') return { outcome: body };
    const fields = typeof body === 'string' ? body : readBookFields(body);
    if (fields instanceof Invalid || fields === 'payloadTooLarge') {
      if (!(await this.#store.find(id))) return { outcome: 'bookNotFound' };
      return fields instanceof Invalid
        ? { outcome: 'invalidInput', detail: fields.detail }
        : { outcome: fields };
    }
    const book = isConditional(request)
      ? await this.#changeIfMet(
          request,
          id,
          async (found) => (await this.#store.updateExpected(found, fields)) ?? unchanged(found, fields),
        )
      : await this.#changeAny(
          id,
          () => this.#store.update(id, fields),
          (found) => unchanged(found, fields),
        );
    if (book === 'preconditionFailed') return { outcome: book };
    return book ? toBookResult('bookUpdated', book) : { outcome: 'bookNotFound' };
  };

  /** DELETE /book/{id} */
  readonly delete = async (request: FastifyRequest): Promise<HttpResult> => {
    const id = bookId(request);
    const isDeleted = isConditional(request)
      ? await this.#changeIfMet(request, id, (found) => this.#store.deleteExpected(found))
      : await this.#changeAny(id, () => this.#store.delete(id));
    if (isDeleted === 'preconditionFailed') return { outcome: isDeleted };
    return { outcome: isDeleted ? 'bookDeleted' : 'bookNotFound' };
  };

  /**
   * Changes a book. A trigger of the table may leave out the change: then there is the book, also after a repetition.
   *
   * @param whenLeftOut the result if the book needs no change
   */
  async #changeAny<Result>(
    id: number,
    change: () => Promise<Result | undefined | false>,
    whenLeftOut?: (found: Book) => Result | undefined,
  ): Promise<Result | undefined> {
    for (let attempt = 1; attempt <= LEFT_OUT_ATTEMPTS; attempt++) {
      const result = await change();
      if (result) return result;
      const found = await this.#store.find(id);
      if (!found) return undefined;
      const same = whenLeftOut?.(found);
      if (same) return same;
    }
    throw new TableRejection(LEFT_OUT);
  }

  /** Changes a book only as it was when its preconditions were met; evaluates them again after a concurrent change. */
  async #changeIfMet<Result>(
    request: FastifyRequest,
    id: number,
    change: (expected: Book) => Promise<Result | undefined | false>,
  ): Promise<Result | 'preconditionFailed' | undefined> {
    let last: string | undefined;
    let repetitions = 0;
    for (let attempt = 1; attempt <= CHANGE_ATTEMPTS_MAX; attempt++) {
      const found = await this.#store.find(id);
      if (!found) return undefined;
      const tag = entityTag(found);
      if (evaluatePreconditions(request, tag) !== 'met') return 'preconditionFailed';
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

/** The book, if it has the fields: a trigger may leave out updates that change nothing (`suppress_redundant_updates_trigger`). */
function unchanged(book: Book, { title, author, year }: Partial<BookFields>): Book | undefined {
  const isSame =
    (title ?? book.title) === book.title &&
    (author ?? book.author) === book.author &&
    (year ?? book.year) === book.year;
  return isSame ? book : undefined;
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

/** A hook of routes with an id: it rejects what no book can have as its id. */
export function expectBookId({ params }: FastifyRequest, reply: FastifyReply, pass: () => void): void {
  if (readBookId((params as { id: string }).id) === undefined) send(reply, { outcome: 'bookNotFound' });
  else pass();
}

/** The id in the path, after {@link expectBookId}. */
export function bookId({ params }: FastifyRequest): number {
  return Number((params as { id: string }).id);
}
