import assert from 'node:assert/strict';
import type { Book } from '../../src/book/contract.ts';
import { assertError, assertSuccess } from '../../testkit/assertions.ts';
import { type RawResponse, request } from '../../testkit/connection.ts';
import { LOGIN } from '../../testkit/service.ts';
import type { Random } from '../random.ts';

/** A request, and the check of its response, which no other one passes. */
export interface Exchange {
  readonly bytes: string;
  readonly isToHead?: boolean;
  /** Whether a 100 Continue comes first. */
  readonly isExpecting?: boolean;
  /** Throws unless this is the response. */
  readonly check: (response: RawResponse) => void;
}

/** The number of concurrent clients, each with its own books, so that their content is known. */
export const CLIENTS = 8;
const BOOKS_EACH = 6;

/** The number of books, with ids from 1: book 7 has the title `book 7`. */
export const BOOKS = CLIENTS * BOOKS_EACH;

/** Makes well-formed requests of all kinds. */
export class Exchanges {
  readonly #random: Random;
  readonly #authorization: string;
  #count = 0;
  /** The authors of the updated books, by id. */
  readonly #authors = new Map<number, string>();
  /** The titles of the created books. */
  readonly created = new Set<string>();

  /** @param authorization the header line with a token */
  constructor(random: Random, authorization: string) {
    this.#random = random;
    this.#authorization = authorization;
  }

  /** The next request of a client, whose requests are executed in order. */
  next(client: number): Exchange {
    const number = ++this.#count;
    const id = 1 + client + CLIENTS * this.#random.below(BOOKS_EACH);
    switch (this.#random.below(12)) {
      case 0:
        return this.#create(`created ${number}`);
      case 1:
        return this.#update(id, `author ${number}`);
      case 2:
        return {
          ...this.#request(`HEAD /book/${id}`),
          isToHead: true,
          check: ({ status }) => assert.equal(status, 200),
        };
      case 3:
        return this.#rejected(this.#request(`GET /book/${1_000_000 + number}`), 404, 'Book not found');
      case 4:
        return this.#rejected({ bytes: request(`GET /nowhere/${number}`) }, 404, 'Not found');
      case 5:
        return this.#rejected({ bytes: request(`PATCH /book/${id}`) }, 405, 'Method not allowed');
      case 6:
        return this.#rejected({ bytes: request(`DELETE /book/${id}`) }, 401, 'Authorization token required');
      case 7:
        return this.#logIn();
      case 8:
        return this.#rejected(this.#send('POST /book', this.#smuggled(id)), 400, 'Invalid input');
      case 9:
        return { ...this.#send(`GET /book/${id}`, this.#smuggled(id)), check: this.#isBook(id) };
      case 10:
        return { ...this.#create(`created ${number}`, ['Expect: 100-continue']), isExpecting: true };
      default:
        return { ...this.#request(`GET /book/${id}`), check: this.#isBook(id) };
    }
  }

  /** A request that must get no response, and must have no effect. */
  ignored(): string {
    return request('POST /book', [this.#authorization], '{"title":"never"}');
  }

  #create(title: string, lines: readonly string[] = []): Exchange {
    this.created.add(title);
    return {
      ...this.#send('POST /book', JSON.stringify({ title }), lines),
      check: (response) => {
        const book = assertSuccess(response, 201, 'Book created successfully') as Book;
        assert.equal(book.title, title);
      },
    };
  }

  #update(id: number, author: string): Exchange {
    this.#authors.set(id, author);
    return {
      ...this.#send(`PUT /book/${id}`, JSON.stringify({ author })),
      check: (response) => {
        const book = assertSuccess(response, 200, 'Book updated successfully') as Book;
        assert.deepEqual([book.id, book.title, book.author], [id, `book ${id}`, author]);
      },
    };
  }

  #logIn(): Exchange {
    return { ...this.#send('POST /token', LOGIN), check: hasToken };
  }

  #rejected(sent: { readonly bytes: string }, status: number, message: string): Exchange {
    return { ...sent, check: (response) => assertError(response, status, message) };
  }

  /** Checks for the book as the earlier requests have left it. */
  #isBook(id: number): Exchange['check'] {
    const author = this.#authors.get(id) ?? '';
    return (response) => {
      const book = assertSuccess(response, 200, 'Book retrieved successfully') as Book;
      assert.deepEqual([book.id, book.title, book.author], [id, `book ${id}`, author]);
    };
  }

  #request(start: string): { bytes: string } {
    return { bytes: request(start, this.#lines()) };
  }

  /** A request with a body by its length, or in chunks of any size with extensions and a trailer. */
  #send(start: string, body: string, lines: readonly string[] = []): { bytes: string } {
    const all = [...this.#lines(), ...lines];
    if (this.#random.below(2) === 0) return { bytes: request(start, all, body) };
    const head = request(start, [...all, 'Transfer-Encoding: Chunked', 'Trailer: Authorization']);
    const trailer = this.#random.below(2) === 0 ? 'Authorization: nonsense\r\nName: value\r\n' : '';
    return { bytes: `${head}${this.#chunks(body)}0\r\n${trailer}\r\n` };
  }

  /** The header line with the token, and others that have no effect. */
  #lines(): string[] {
    return [this.#authorization, ...INEFFECTIVE_LINES.filter(() => this.#random.below(8) === 0)];
  }

  #chunks(body: string): string {
    if (body === '') return '';
    const size = 1 + this.#random.below(body.length);
    const extension = this.#random.below(3) === 0 ? ';name="value"' : '';
    return `${size.toString(16)}${extension}\r\n${body.slice(0, size)}\r\n${this.#chunks(body.slice(size))}`;
  }

  /** A body that contains requests and a response, for a parser that miscounts bytes. */
  #smuggled(id: number): string {
    const response = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}';
    return `0\r\n\r\n${this.ignored()}${request(`DELETE /book/${id}`, [this.#authorization])}${response}`;
  }
}

/** Well-formed header lines without effect. */
const INEFFECTIVE_LINES = [
  '__proto__: {"isAdmin":true}',
  'constructor: prototype',
  'Content-Type: multipart/form-data; boundary=x',
  'X-HTTP-Method-Override: DELETE',
  'X-Original-URL: /nowhere',
  'Connection: keep-alive, Host, Authorization',
  'Cookie: a=b; a=c',
  'Range: bytes=0-0',
  'If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT',
  'Empty:',
];

/** Throws unless a response has a token. */
export function hasToken(response: RawResponse): void {
  assertSuccess(response, 200, 'Token generated successfully');
}
