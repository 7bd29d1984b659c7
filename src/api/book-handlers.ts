import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type Book,
  type BookPage,
  type BookStore,
  readBook,
  readBookChanges,
  readBookId,
  StoreUnavailable,
} from '../book/book.ts';
import type { Answer } from '../http/answer.ts';
import type { BodyReader } from '../http/body/body-reader.ts';
import { type Budget, Share } from '../http/body/memory-budget.ts';
import { readIdempotencyKey } from '../http/idempotency-key.ts';
import { BODY_BYTES_MAX, BOOKS_BYTES_MAX } from '../http/limits.ts';
import type { OutcomeName } from '../http/outcomes.ts';
import { isConditional, judge } from '../http/preconditions.ts';
import { bytesOf, contentOf, entityTag } from './book-response.ts';
import { CLOSE, COMMA, inBrackets, noPages, OPEN, slices } from './list/pages.ts';
import { readListRequest } from './list/query.ts';
import { Searches } from './list/search.ts';
import { readBooks } from './many-books.ts';

/** The handlers of the endpoints for books (specification, "Endpoints"). All of them run behind the token check. */
export class BookHandlers {
  readonly #store: BookStore;
  readonly #bodies: BodyReader;
  readonly #unread: Budget;
  readonly #searches: Searches;
  /** What a list counts for, by the last one: when too many are under way at once, none of them gets on. */
  #listBytes = 0;
  /** Settles with the last of the long bodies whose books are created one after the other. */
  #lastTurn: Promise<unknown> = Promise.resolve();

  /** @param unread what lists and long books may hold that their clients have not read yet */
  constructor(store: BookStore, bodies: BodyReader, unread: Budget, searchMs: number) {
    this.#store = store;
    this.#bodies = bodies;
    this.#unread = unread;
    this.#searches = new Searches(store, unread, searchMs);
  }

  /** How many searches are under way. */
  get searchesUnderWay(): number {
    return this.#searches.underWay;
  }

  /** POST /book */
  readonly create = async (request: FastifyRequest, reply: FastifyReply): Promise<Answer> => {
    const key = readIdempotencyKey(request.headers['idempotency-key']);
    if (key === null) return { outcome: 'invalidIdempotencyKey' };
    const fields = await this.#bodies.read(request.raw, reply.raw, readBook);
    if (typeof fields === 'string') return { outcome: fields };
    if (!fields) return { outcome: 'invalidInput' };
    const book = await (key === undefined ? this.#store.create(fields) : this.#store.createOnce(fields, key));
    if (!book) return { outcome: 'idempotencyKeyReused' };
    return { outcome: 'bookCreated', ...contentOf(book), headers: { etag: entityTag(book) } };
  };

  /** POST /books */
  readonly createMany = async (request: FastifyRequest, reply: FastifyReply): Promise<Answer> => {
    const created = await this.#bodies.read(
      request.raw,
      reply.raw,
      (body) => this.#inTurn(body.length, () => this.#createAll(body)),
      BOOKS_BYTES_MAX,
    );
    if (typeof created === 'string') return { outcome: created };
    if ('pages' in created) return { outcome: 'booksCreated', json: inBrackets(created.pages) };
    if (created.invalidIndex !== undefined) reply.header('invalid-index', created.invalidIndex);
    return { outcome: 'invalidInput' };
  };

  async #createAll(body: Uint8Array) {
    const books = await readBooks(body, BODY_BYTES_MAX);
    return 'json' in books ? { pages: await this.#store.createMany(books.json) } : books;
  }

  /** Performs what takes many times the memory of a body; for long bodies one after the other. */
  async #inTurn<Result>(bodyBytes: number, perform: () => Promise<Result>): Promise<Result> {
    if (bodyBytes <= BODY_BYTES_MAX) return perform();
    const result = this.#lastTurn.then(perform);
    this.#lastTurn = result.catch(() => {}).then(() => undefined);
    return result;
  }

  /** GET /books */
  readonly list = async (request: FastifyRequest, reply: FastifyReply): Promise<Answer> => {
    const asked = readListRequest(request.raw.url ?? '');
    if (asked === 'invalid') return { outcome: 'invalidQuery' };
    return asked ? this.#searches.answer(asked, request, reply) : this.#listAll(request, reply);
  };

  async #listAll({ method }: FastifyRequest, reply: FastifyReply): Promise<Answer> {
    const unread = new Share(this.#unread, reply.raw);
    if (!unread.take(this.#listBytes)) return { outcome: 'serviceUnavailable' };
    // The first page comes before the headers go out: a store that is away can still be answered with its status.
    const first = await this.#store.list();
    if (!unread.take(Math.max(this.#listBytes, first.json.length))) return { outcome: 'serviceUnavailable' };
    if (first.last === undefined) {
      this.#noteLength(first.json.length);
      return { outcome: 'booksRetrieved', json: inBrackets([first.json]) };
    }
    return { outcome: 'booksRetrieved', json: method === 'HEAD' ? noPages() : this.#pages(first, unread) };
  }

  /** GET /book/{id} */
  readonly find = async (request: FastifyRequest, reply: FastifyReply): Promise<Answer> => {
    const id = bookId(request);
    const book = id === undefined ? undefined : await this.#store.find(id);
    if (!book) return { outcome: 'bookNotFound' };
    const tag = entityTag(book);
    const verdict = judge(request.raw, tag);
    if (verdict === 'notModified') return { outcome: verdict, headers: { etag: tag } };
    return verdict === 'met' ? this.#answerWith('bookRetrieved', book, reply, tag) : { outcome: verdict };
  };

  /** PUT /book/{id}: a missing book comes before a bad body, but only a bad body makes that a question of its own. */
  readonly update = async (request: FastifyRequest, reply: FastifyReply): Promise<Answer> => {
    const id = bookId(request);
    if (id === undefined) return { outcome: 'bookNotFound' };
    const changes = await this.#bodies.read(request.raw, reply.raw, readBookChanges);
    if (typeof changes === 'string' && changes !== 'payloadTooLarge') return { outcome: changes };
    if (!changes || typeof changes === 'string') {
      if (!(await this.#store.find(id))) return { outcome: 'bookNotFound' };
      return { outcome: changes ?? 'invalidInput' };
    }
    const book = isConditional(request.raw)
      ? await this.#whileMet(request, reply, id, (found) => this.#store.updateExpected(found, changes))
      : await this.#store.update(id, changes);
    if (book === 'preconditionFailed') return { outcome: book };
    return book ? this.#answerWith('bookUpdated', book, reply) : { outcome: 'bookNotFound' };
  };

  /** DELETE /book/{id} */
  readonly delete = async (request: FastifyRequest, reply: FastifyReply): Promise<Answer> => {
    const id = bookId(request);
    if (id === undefined) return { outcome: 'bookNotFound' };
    const isDeleted = isConditional(request.raw)
      ? await this.#whileMet(request, reply, id, (found) => this.#store.deleteExpected(found))
      : await this.#store.delete(id);
    if (isDeleted === 'preconditionFailed') return { outcome: isDeleted };
    return { outcome: isDeleted ? 'bookDeleted' : 'bookNotFound' };
  };

  /**
   * Makes a change that is to be made only to the book for which the request's preconditions were judged; judges again
   * when another change came in between.
   *
   * @returns what came of it; undefined when there is no such book
   */
  async #whileMet<Result>(
    { raw }: FastifyRequest,
    reply: FastifyReply,
    id: number,
    change: (expected: Book) => Promise<Result | undefined | false>,
  ): Promise<Result | 'preconditionFailed' | undefined> {
    const expected = new Share(this.#unread, reply.raw);
    for (let attempt = 1; attempt <= CHANGE_ATTEMPTS_MAX; attempt++) {
      const found = await this.#store.find(id);
      if (!found) return undefined;
      if (judge(raw, entityTag(found)) !== 'met') return 'preconditionFailed';
      if (!expected.take(bytesOf(found))) throw new StoreUnavailable('too many long books at once');
      const result = await change(found);
      expected.hold(0);
      if (result) return result;
    }
    throw new StoreUnavailable('contention');
  }

  /** Long books wait in memory until their clients have read them. */
  #answerWith(outcome: OutcomeName, book: Book, reply: FastifyReply, tag = entityTag(book)): Answer {
    const bytes = bytesOf(book);
    const isHeld = bytes === 0 || new Share(this.#unread, reply.raw).take(bytes);
    return isHeld
      ? { outcome, ...contentOf(book), headers: { etag: tag } }
      : { outcome: 'serviceUnavailable' };
  }

  async *#pages(first: BookPage, unread: Share): AsyncGenerator<Uint8Array> {
    yield OPEN;
    yield* slices(first.json);
    let { last } = first;
    let length = first.json.length;
    while (last !== undefined) {
      for (let turn = 0; turn < TURNS_BETWEEN_PAGES; turn++) await endOfTurn();
      const page = await this.#store.list(last);
      unread.hold(Math.max(this.#listBytes, page.json.length));
      if (page.json.length > 0) yield COMMA;
      yield* slices(page.json);
      last = page.last;
      length += page.json.length;
    }
    this.#noteLength(length);
    yield CLOSE;
  }

  #noteLength(listBytes: number): void {
    this.#listBytes = Math.min(LIST_BYTES_MAX, listBytes);
  }
}

/** Preconditions such as `*` are met by whatever others leave: every time that this does not get on, another one does. */
const CHANGE_ATTEMPTS_MAX = 100;

/** Longer lists count for no more than this, or for one of their pages: they are never all in memory. */
const LIST_BYTES_MAX = 256 * 1_024;

/** How many turns of the event loop the others get between two pages of a list. Without others a turn is over at once. */
const TURNS_BETWEEN_PAGES = 4;

function bookId(request: FastifyRequest): number | undefined {
  return readBookId((request.params as { id: string }).id);
}
