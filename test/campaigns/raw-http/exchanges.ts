import assert from 'node:assert/strict';
import type { Book } from '../../../src/book.ts';
import { assertRefusal, assertSuccess } from '../../http/answers.ts';
import { type Answer, request } from '../../http/connection.ts';
import { LOGIN } from '../../http/service.ts';
import type { Chance } from '../chance.ts';

/** A request, and how its answer is told from all others. */
export interface Exchange {
  readonly bytes: string;
  readonly isToHead?: boolean;
  /** Throws unless this is the answer. */
  readonly check: (answer: Answer) => void;
}

/** How many books there are to ask for, with the ids from 1 on: the book 7 has the title `book 7`. */
export const BOOKS = 50;

/** Makes well-formed requests of all kinds. */
export class Exchanges {
  readonly #chance: Chance;
  readonly #authorization: string;
  #count = 0;
  /** The titles of the books that were asked for. */
  readonly created = new Set<string>();

  /** @param authorization the header line with a token */
  constructor(chance: Chance, authorization: string) {
    this.#chance = chance;
    this.#authorization = authorization;
  }

  next(): Exchange {
    const number = ++this.#count;
    const id = 1 + this.#chance.below(BOOKS);
    switch (this.#chance.below(11)) {
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
        return { ...this.#send(`GET /book/${id}`, this.#smuggled(id)), check: isBook(id) };
      default:
        return { ...this.#ask(`GET /book/${id}`), check: isBook(id) };
    }
  }

  /** A request that must not be answered, and must not have an effect. */
  never(): string {
    return request('POST /book', [this.#authorization], '{"title":"never"}');
  }

  #create(title: string): Exchange {
    this.created.add(title);
    return {
      ...this.#send('POST /book', JSON.stringify({ title })),
      check: (answer) => {
        const book = assertSuccess(answer, 201, 'Book created successfully') as Book;
        assert.equal(book.title, title);
      },
    };
  }

  #update(id: number, author: string): Exchange {
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

  #ask(start: string): { bytes: string } {
    return { bytes: request(start, [this.#authorization]) };
  }

  /** Sends a body by its length or in chunks of any size, with what may stand between them. */
  #send(start: string, body: string): { bytes: string } {
    if (this.#chance.below(2) === 0) return { bytes: request(start, [this.#authorization], body) };
    const head = request(start, [
      this.#authorization,
      'Transfer-Encoding: Chunked',
      'Trailer: Authorization',
    ]);
    const trailer = this.#chance.below(2) === 0 ? 'Authorization: nonsense\r\nName: value\r\n' : '';
    return { bytes: `${head}${this.#chunks(body)}0\r\n${trailer}\r\n` };
  }

  #chunks(body: string): string {
    if (body === '') return '';
    const size = 1 + this.#chance.below(body.length);
    const extension = this.#chance.below(3) === 0 ? ';name="value"' : '';
    return `${size.toString(16)}${extension}\r\n${body.slice(0, size)}\r\n${this.#chunks(body.slice(size))}`;
  }

  /** A body that would be requests and answers to who loses count. */
  #smuggled(id: number): string {
    const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}';
    return `0\r\n\r\n${this.never()}${request(`DELETE /book/${id}`, [this.#authorization])}${answer}`;
  }
}

/** Throws unless an answer has a token. */
export function hasToken(answer: Answer): void {
  assertSuccess(answer, 200, 'Token generated successfully');
}

function isBook(id: number): (answer: Answer) => void {
  return (answer) => {
    const book = assertSuccess(answer, 200, 'Book retrieved successfully') as Book;
    assert.deepEqual([book.id, book.title], [id, `book ${id}`]);
  };
}
