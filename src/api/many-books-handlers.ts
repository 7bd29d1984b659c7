import type { FastifyReply } from 'fastify';
import { ID_MAX } from '../book/book.ts';
import type { BookStore, UpdateFault } from '../book/book-store.ts';
import type { BodyRequest } from '../http/body/body-reader.ts';
import { BODY_BYTES_MAX } from '../http/body-limits.ts';
import { readIdempotencyKey } from '../http/idempotency-key.ts';
import { toArray } from '../http/json-array.ts';
import { Rejection } from '../http/rejection.ts';
import type { HttpResult } from '../http/response.ts';
import { bytesOfBooks, invalidIndex, readBooks, readUpdates } from './many-books.ts';
import type { SerialQueue } from './serial-queue.ts';
import { type UnreadLimits, UnreadResponse } from './unread-response.ts';

/** The handlers that create, update and delete many books. Both need a token. */
export class ManyBooksHandlers {
  readonly #store: BookStore;
  readonly #unread: UnreadLimits;
  readonly #queue: SerialQueue;

  constructor(store: BookStore, unread: UnreadLimits, queue: SerialQueue) {
    this.#store = store;
    this.#unread = unread;
    this.#queue = queue;
  }

  /** POST /books */
  readonly create = async ({ headers, body }: BodyRequest, reply: FastifyReply): Promise<HttpResult> => {
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
    return body.length > BODY_BYTES_MAX ? this.#queue.run(reply, create) : create();
  };

  /** PATCH /books */
  readonly update = async ({ body }: BodyRequest, reply: FastifyReply): Promise<HttpResult> => {
    if (body instanceof Rejection) return body;
    return this.#queue.run(reply, async () => {
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
}

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
