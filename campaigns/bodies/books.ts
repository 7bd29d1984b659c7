import assert from 'node:assert/strict';
import { readLoginRequest } from '../../src/auth/credentials.ts';
import { type Book, readBookChanges, readBookId } from '../../src/book/book.ts';
import type { Answer } from '../../test/http/connection.ts';
import { LOGIN } from '../../test/http/service.ts';
import type { HostileRequest } from './requests.ts';

/** What a request is to be answered with. */
interface Expected {
  readonly status: number;
  /** The book that is answered; one that is new has any id. */
  readonly book?: Omit<Book, 'id'> & Partial<Book>;
}

/** The longest body that is read. */
const BODY_BYTES_MAX = 1_024 * 1_024;

/** The longest head: none of those that are sent comes close to it, and is shorter. */
const HEAD_BYTES_MAX = 16 * 1_024;

/** What HTTP does not take in a target, though some of it passes at the end of one, and in no header. */
const MALFORMED = { path: /[^\x21-\x7e]/, token: /\x7f/ };

/**
 * The books that there are by what was answered, and so what is to be answered. Bodies are read by the service's own
 * functions, which unit tests hold to the letter: that they arrive whole, in turn and at the store is judged here.
 */
export class Books {
  readonly #books = new Map<number, Book>();
  readonly #ids = new Set<number>();

  /** Asserts that an answer is as it should be, and notes what it says of a book. */
  note(request: HostileRequest, { status, body }: Answer): void {
    const { message, data } = JSON.parse(body) as { message: string; data: Book };
    if (message === 'Bad request') {
      assert.ok(MALFORMED.path.test(request.path) || MALFORMED.token.test(request.token ?? ''));
      return;
    }
    const { status: expected, book } = this.#expect(request);
    assert.equal(status, expected);
    if (book) {
      const { id = data.id } = book;
      assert.equal(JSON.stringify(data), JSON.stringify({ id, ...book }));
      assert.ok('id' in book || !this.#ids.has(id), 'the id of another book');
      this.#books.set(id, data);
      this.#ids.add(id);
    } else if (request.method === 'DELETE' && status === 200) {
      assert.equal(data, null);
      this.#books.delete(idOf(request) ?? 0);
    }
  }

  /** Asserts that these books are stored, each by itself and all in the list, and no others. */
  async assertStored(ask: (requests: readonly HostileRequest[]) => Promise<Answer[]>): Promise<void> {
    const [list, ...each] = await ask([
      read('/books'),
      ...this.#books.keys().map((id) => read(`/book/${id}`)),
    ]);
    const books = [...this.#books.values()];
    assert.deepEqual(each.map(dataOf), books);
    assert.deepEqual(
      list && dataOf(list),
      books.toSorted((one, other) => one.id - other.id),
    );
  }

  #expect(request: HostileRequest): Expected {
    const { method, path, token } = request;
    if (path.length + (token?.length ?? 0) > HEAD_BYTES_MAX) return { status: 431 };
    if (path === '/token') return { status: loginStatus(request) };
    if (path.split('/').length > 3) return { status: 404 };
    if (token !== undefined) return { status: 401 };
    const book = this.#books.get(idOf(request) ?? 0);
    if (method !== 'POST' && !book) return { status: 404 };
    if (method === 'DELETE') return { status: 200 };
    if (method === 'GET') return { status: 200, ...(book && { book }) };
    const changes = readBody(request, readBookChanges);
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

/** @returns what a body says, or the status of its refusal */
function readBody<Content>(
  { lines, body }: HostileRequest,
  reader: (body: Uint8Array) => Content | undefined,
): Content | number {
  if (body.length > BODY_BYTES_MAX) return 413;
  const isEncoded = lines.some((line) => /^Content-Encoding: (?!identity$)/.test(line));
  return (isEncoded ? undefined : reader(body)) ?? 400;
}

/** The id that a target asks for, if a book can have it. */
function idOf({ path }: HostileRequest): number | undefined {
  const [, id = ''] = /^\/book\/([0-9]+|%31)[ \t]*(?:\?.*)?$/.exec(path) ?? [];
  return readBookId(id.replace('%31', '1'));
}

function read(path: string): HostileRequest {
  return { method: 'GET', path, token: undefined, lines: [], body: new Uint8Array(), isChunked: false };
}

function dataOf({ body }: Answer): unknown {
  return (JSON.parse(body) as { data: unknown }).data;
}
