import assert from 'node:assert/strict';
import type { Book } from '../../src/book/book.ts';
import { assertRefusal, assertSuccess } from '../../test/http/answers.ts';
import { type Answer, request } from '../../test/http/connection.ts';
import { LOGIN } from '../../test/http/service.ts';
import type { Random } from '../random.ts';

/** A request, and how its answer is told from all others. */
export interface Exchange {
  readonly bytes: string;
  readonly isToHead?: boolean;
  /** Whether an interim answer comes first: 100 Continue. */
  readonly isExpecting?: boolean;
  /** Throws unless this is the answer. */
  readonly check: (answer: Answer) => void;
}

/** How many clients there are at the same time, each with books of its own, so that it knows what is in them. */
export const CLIENTS = 8;
const BOOKS_EACH = 6;

/** How many books there are to ask for, with the ids from 1 on: the book 7 has the title `book 7`. */
export const BOOKS = CLIENTS * BOOKS_EACH;

/** Makes well-formed requests of all kinds. */
export class Exchanges {
  readonly #random: Random;
  readonly #authorization: string;
  #count = 0;
  /** The authors that the books were given, by their ids. */
  readonly #authors = new Map<number, string>();
  /** The titles of the books that were asked for. */
  readonly created = new Set<string>();

  /** @param authorization the header line with a token */
  constructor(random: Random, authorization: string) {
    this.#random = random;
    this.#authorization = authorization;
  }

  /** @param client whose next request it is; its requests are carried out one after the other, as they are made */
  next(client: number): Exchange {
    const number = ++this.#count;
    const id = 1 + client + CLIENTS * this.#random.below(BOOKS_EACH);
    switch (this.#random.below(12)) {
      case 0:
        return this.#create(`made ${number}`);
      case 1:
        return this.#update(id, `author ${number}`);
      case 2:
        return {
          ...this.#ask(`HEAD /book/${id}`),
          isToHead: true,
          check: ({ status }) => assert.equal(status, 200),
        };
      case 3:
        return this.#refused(this.#ask(`GET /book/${1_000_000 + number}`), 404, 'Book not found');
      case 4:
        return this.#refused({ bytes: request(`GET /nowhere/${number}`) }, 404, 'Not found');
      case 5:
        return this.#refused({ bytes: request(`PATCH /book/${id}`) }, 405, 'Method not allowed');
      case 6:
        return this.#refused({ bytes: request(`DELETE /book/${id}`) }, 401, 'Authorization token required');
      case 7:
        return this.#logIn();
      case 8:
        return this.#refused(this.#send('POST /book', this.#smuggled(id)), 400, 'Invalid input');
      case 9:
        return { ...this.#send(`GET /book/${id}`, this.#smuggled(id)), check: this.#isBook(id) };
      case 10:
        return { ...this.#create(`made ${number}`, ['Expect: 100-continue']), isExpecting: true };
      default:
        return { ...this.#ask(`GET /book/${id}`), check: this.#isBook(id) };
    }
  }

  /** A request that must not be answered, and must not have an effect. */
  never(): string {
    return request('POST /book', [this.#authorization], '{"title":"never"}');
  }

  #create(title: string, lines: readonly string[] = []): Exchange {
    this.created.add(title);
    return {
      ...this.#send('POST /book', JSON.stringify({ title }), lines),
      check: (answer) => {
        const book = assertSuccess(answer, 201, 'Book created successfully') as Book;
        assert.equal(book.title, title);
      },
    };
  }

  #update(id: number, author: string): Exchange {
    this.#authors.set(id, author);
    return {
      ...this.#send(`PUT /book/${id}`, JSON.stringify({ author })),
      check: (answer) => {
        const book = assertSuccess(answer, 200, 'Book updated successfully') as Book;
        assert.deepEqual([book.id, book.title, book.author], [id, `book ${id}`, author]);
      },
    };
  }

  #logIn(): Exchange {
    return { ...this.#send('POST /token', LOGIN), check: hasToken };
  }

  #refused(sent: { readonly bytes: string }, status: number, message: string): Exchange {
    return { ...sent, check: (answer) => assertRefusal(answer, status, message) };
  }

  /** The book as it is left by the requests that were made so far. */
  #isBook(id: number): Exchange['check'] {
    const author = this.#authors.get(id) ?? '';
    return (answer) => {
      const book = assertSuccess(answer, 200, 'Book retrieved successfully') as Book;
      assert.deepEqual([book.id, book.title, book.author], [id, `book ${id}`, author]);
    };
  }

  #ask(start: string): { bytes: string } {
    return { bytes: request(start, this.#lines()) };
  }

  /** Sends a body by its length or in chunks of any size, with what may stand between them. */
  #send(start: string, body: string, lines: readonly string[] = []): { bytes: string } {
    const all = [...this.#lines(), ...lines];
    if (this.#random.below(2) === 0) return { bytes: request(start, all, body) };
    const head = request(start, [...all, 'Transfer-Encoding: Chunked', 'Trailer: Authorization']);
    const trailer = this.#random.below(2) === 0 ? 'Authorization: nonsense\r\nName: value\r\n' : '';
    return { bytes: `${head}${this.#chunks(body)}0\r\n${trailer}\r\n` };
  }

  /** The header line with the token, and those that are in the way of a careless reader. */
  #lines(): string[] {
    return [this.#authorization, ...ODD_LINES.filter(() => this.#random.below(8) === 0)];
  }

  #chunks(body: string): string {
    if (body === '') return '';
    const size = 1 + this.#random.below(body.length);
    const extension = this.#random.below(3) === 0 ? ';name="value"' : '';
    return `${size.toString(16)}${extension}\r\n${body.slice(0, size)}\r\n${this.#chunks(body.slice(size))}`;
  }

  /** A body that would be requests and answers to who loses count. */
  #smuggled(id: number): string {
    const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}';
    return `0\r\n\r\n${this.never()}${request(`DELETE /book/${id}`, [this.#authorization])}${answer}`;
  }
}

/** Well-formed, and without a meaning for the service. */
const ODD_LINES = [
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

/** Throws unless an answer has a token. */
export function hasToken(answer: Answer): void {
  assertSuccess(answer, 200, 'Token generated successfully');
}
