import type { FastifyReply, FastifyRequest } from 'fastify';
import { type BookPage, type BookStore, readBook, readBookChanges, readBookId } from '../book.ts';
import type { Answer } from './answer.ts';
import { readBody } from './body.ts';

/** The handlers of the endpoints for books (specification, "Endpoints"). All of them run behind the token check. */
export class BookHandlers {
  readonly #store: BookStore;
  readonly #bodyBytesMax: number;

  constructor(store: BookStore, bodyBytesMax: number) {
    this.#store = store;
    this.#bodyBytesMax = bodyBytesMax;
  }

  /** POST /book */
  readonly create = async (request: FastifyRequest, reply: FastifyReply): Promise<Answer> => {
    const body = await readBody(request.raw, reply.raw, this.#bodyBytesMax);
    if (typeof body === 'string') return { outcome: body };
    const fields = readBook(body);
    if (!fields) return { outcome: 'invalidInput' };
    return { outcome: 'bookCreated', data: await this.#store.create(fields) };
  };

  /** GET /books */
  readonly list = async ({ method }: FastifyRequest): Promise<Answer> => {
    // The first page comes before the headers go out: a store that is away can still be answered with its status.
    const first = await this.#store.list();
    if (first.last === undefined) {
      return { outcome: 'booksRetrieved', json: Buffer.concat([OPEN, first.json, CLOSE]) };
    }
    return { outcome: 'booksRetrieved', json: method === 'HEAD' ? noPages() : this.#pages(first) };
  };

  /** GET /book/{id} */
  readonly find = async (request: FastifyRequest): Promise<Answer> => {
    const id = bookId(request);
    const book = id === undefined ? undefined : await this.#store.find(id);
    return book ? { outcome: 'bookRetrieved', data: book } : { outcome: 'bookNotFound' };
  };

  /** PUT /book/{id}: a missing book comes before a bad body, but only a bad body makes that a question of its own. */
  readonly update = async (request: FastifyRequest, reply: FastifyReply): Promise<Answer> => {
    const id = bookId(request);
    if (id === undefined) return { outcome: 'bookNotFound' };
    const body = await readBody(request.raw, reply.raw, this.#bodyBytesMax);
    if (body === 'badRequest' || body === 'requestTimeout') return { outcome: body };
    const changes = body === 'payloadTooLarge' ? undefined : readBookChanges(body);
    if (!changes) {
      if (!(await this.#store.find(id))) return { outcome: 'bookNotFound' };
      return { outcome: body === 'payloadTooLarge' ? body : 'invalidInput' };
    }
    const book = await this.#store.update(id, changes);
    return book ? { outcome: 'bookUpdated', data: book } : { outcome: 'bookNotFound' };
  };

  /** DELETE /book/{id} */
  readonly delete = async (request: FastifyRequest): Promise<Answer> => {
    const id = bookId(request);
    const isDeleted = id !== undefined && (await this.#store.delete(id));
    return { outcome: isDeleted ? 'bookDeleted' : 'bookNotFound' };
  };

  async *#pages(first: BookPage): AsyncGenerator<Uint8Array> {
    yield OPEN;
    yield first.json;
    let { last } = first;
    while (last !== undefined) {
      const page = await this.#store.list(last);
      if (page.json.length > 0) yield COMMA;
      yield page.json;
      last = page.last;
    }
    yield CLOSE;
  }
}

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');

/** HEAD has no content, so nothing is asked for. */
async function* noPages(): AsyncGenerator<Uint8Array> {}

function bookId(request: FastifyRequest): number | undefined {
  return readBookId((request.params as { id: string }).id);
}
