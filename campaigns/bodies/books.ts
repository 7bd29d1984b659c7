import assert from 'node:assert/strict';
import { readLoginRequest } from '../../src/auth/credentials.ts';
import { readBookFields, readBookId } from '../../src/book/book.ts';
import type { Book } from '../../src/book/contract.ts';
import { Invalid } from '../../src/json/invalid.ts';
import type { RawResponse } from '../../testkit/connection.ts';
import { LOGIN } from '../../testkit/service.ts';
import type { HostileRequest } from './requests.ts';
import { assertFound } from './searches.ts';

/** The expected response to a request. */
interface Expected {
  /** Undefined when only the engines can be compared. */
  readonly status: number | undefined;
  /** The book in the response; a new one may have any id. */
  readonly book?: Omit<Book, 'id'> & Partial<Book>;
}

/** The longest body that is read, and the longest of `POST /token`. */
const BODY_BYTES_MAX = 1_024 * 1_024;
const LOGIN_BYTES_MAX = 16 * 1_024;

/** The longest head; the requests are much shorter or longer. */
const HEAD_BYTES_MAX = 16 * 1_024;

/** Characters that HTTP does not allow in a target, though the parser accepts some at its end, and in a header. */
const MALFORMED = { path: /[^\x21-\x7e]/, token: /\x7f/ };

/** Fewer than the pipelined requests of a connection that may wait. */
const PIPELINED_MAX = 50;

/**
 * A model of the stored books, made from the responses, which predicts the next ones. It reads bodies with the service's
 * own functions, which have unit tests: the campaign checks that bodies reach the store whole and in order.
 */
export class Books {
  readonly #books = new Map<number, Book>();
  readonly #ids = new Set<number>();

  /** Asserts that a response is the expected one, and applies it to the model. */
  apply(request: HostileRequest, response: RawResponse): void {
    const { status, body } = response;
    const { message, data } = JSON.parse(body) as { message: string; data: Book };
    if (message === 'Bad request') {
      assert.ok(MALFORMED.path.test(request.path) || MALFORMED.token.test(request.token ?? ''));
      return;
    }
    const { status: expected = status, book } = this.#expect(request);
    assert.equal(status, expected);
    if (typeof request.query === 'object' && status === 200) {
      assertFound([...this.#books.values()], request.query, response);
    } else if (book) {
      const { id = data.id } = book;
      assert.equal(JSON.stringify(data), JSON.stringify({ id, ...book }));
      assert.ok('id' in book || !this.#ids.has(id), 'an id that was assigned before');
      this.#books.set(id, data);
      this.#ids.add(id);
    } else if (request.method === 'DELETE' && status === 200) {
      assert.equal(data, null);
      this.#books.delete(idOf(request) ?? 0);
    }
  }

  /** Asserts that exactly these books are stored, by reading each of them and the list. */
  async assertStored(send: (requests: readonly HostileRequest[]) => Promise<RawResponse[]>): Promise<void> {
    const [list] = await send([read('/books')]);
    const each: RawResponse[] = [];
    const ids = [...this.#books.keys()];
    for (let at = 0; at < ids.length; at += PIPELINED_MAX) {
      const requests = ids.slice(at, at + PIPELINED_MAX).map((id) => read(`/book/${id}`));
      each.push(...(await send(requests)));
    }
    const books = [...this.#books.values()];
    assert.deepEqual(each.map(dataOf), books);
    assert.deepEqual(
      list && dataOf(list),
      books.toSorted((one, other) => one.id - other.id),
    );
  }

  #expect(request: HostileRequest): Expected {
    const { method, path, token, query } = request;
    if (path.length + (token?.length ?? 0) > HEAD_BYTES_MAX) return { status: 431 };
    if (path === '/token') return { status: loginStatus(request) };
    if (query === undefined && path.split('/').length > 3) return { status: 404 };
    if (token !== undefined) return { status: 401 };
    if (query === 'unknown') return { status: undefined };
    if (query !== undefined) return { status: query === 'invalid' ? 400 : 200 };
    const book = this.#books.get(idOf(request) ?? 0);
    if (method !== 'POST' && !book) return { status: 404 };
    if (method === 'DELETE') return { status: 200 };
    if (method === 'GET') return { status: 200, ...(book && { book }) };
    const changes = readBody(request, readBookFields);
    if (typeof changes === 'number') return { status: changes };
    return book
      ? { status: 200, book: { ...book, ...changes } }
      : { status: 201, book: { title: '', author: '', year: 0, ...changes } };
  }
}

function loginStatus(request: HostileRequest): number {
  const login = readBody(request, readLoginRequest);
  if (typeof login === 'number') return login;
  return JSON.stringify(login) === LOGIN ? 200 : 401;
}

/** @returns the content of a body, or the status of its rejection */
function readBody<Content>(
  { path, lines, body }: HostileRequest,
  reader: (body: Uint8Array) => Content | Invalid,
): Content | number {
  if (body.length > (path === '/token' ? LOGIN_BYTES_MAX : BODY_BYTES_MAX)) return 413;
  const isEncoded = lines.some((line) => /^Content-Encoding: (?!identity$)/.test(line));
  const content = reader(isEncoded ? new Uint8Array() : body);
  return content instanceof Invalid ? 400 : content;
}

/** The id in a target, if a book can have it. */
function idOf({ path }: HostileRequest): number | undefined {
  const [, id = ''] = /^\/book\/([0-9]+)[ \t]*(?:\?.*)?$/.exec(path) ?? [];
  return readBookId(id);
}

function read(path: string): HostileRequest {
  return { method: 'GET', path, token: undefined, lines: [], body: new Uint8Array(), isChunked: false };
}

function dataOf({ body }: RawResponse): unknown {
  return (JSON.parse(body) as { data: unknown }).data;
}
