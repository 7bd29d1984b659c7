import assert from 'node:assert/strict';
import { makeToken } from '../../conformance/tokens.ts';
import { type Answer, request } from '../../test/http/connection.ts';
import { newFields } from '../clients.ts';
import type { Random } from '../random.ts';

/** A request, and what becomes of its answer. */
export interface Exchange {
  readonly bytes: string;
  /** Takes the answer in. @throws Error unless it is as it should be */
  readonly take: (answer: Answer) => void;
}

/** How many requests of each kind there are among so many. */
const KINDS = [
  ...Array.from({ length: 9 }, () => 'find' as const),
  ...Array.from({ length: 6 }, () => 'create or delete' as const),
  ...Array.from({ length: 3 }, () => 'update' as const),
  'log in',
  'mistake',
] as const;

/** One of so many requests is for the whole list. */
const REQUESTS_PER_LIST = 200;

/** How many books of its own a client keeps. */
const OWN_BOOKS = 20;

/** The requests of one client: a little of everything. The number of books stays what it is. */
export class Requests {
  readonly #random: Random;
  readonly #credentials: string;
  readonly #own: number[] = [];
  #token: string;

  /** @param credentials the body of a right login */
  constructor(secret: string, credentials: string, random: Random) {
    this.#random = random;
    this.#credentials = credentials;
    this.#token = makeToken(secret, {});
  }

  next(): Exchange {
    const id = this.#random.pick(this.#own);
    if (id === undefined) return this.#create();
    if (this.#random.below(REQUESTS_PER_LIST) === 0) return this.#ask('GET /books', 200);
    switch (this.#random.pick(KINDS)) {
      case 'create or delete':
        return this.#own.length < OWN_BOOKS ? this.#create() : this.#delete();
      case 'update':
        return this.#ask(`PUT /book/${id}`, 200, JSON.stringify({ author: newFields(this.#random).author }));
      case 'log in':
        return this.#logIn();
      case 'mistake':
        return this.#mistake(id);
      default:
        return this.#ask(`GET /book/${id}`, 200);
    }
  }

  #create(): Exchange {
    const { bytes } = this.#ask('POST /book', 201, JSON.stringify(newFields(this.#random)));
    return { bytes, take: (answer) => this.#own.push((dataOf(answer, 201) as { id: number }).id) };
  }

  #delete(): Exchange {
    return this.#ask(`DELETE /book/${this.#own.shift()}`, 200);
  }

  /** From now on the client presents the new token. */
  #logIn(): Exchange {
    const bytes = request('POST /token', [], this.#credentials);
    return { bytes, take: (answer) => (this.#token = (dataOf(answer, 200) as { token: string }).token) };
  }

  #mistake(id: number): Exchange {
    const mistakes = [
      this.#ask('POST /book', 400, '{"title":'),
      this.#ask(`PUT /book/${id}`, 400, '{"year":"1999"}'),
      this.#ask('GET /book/9007199254740991', 404),
      this.#ask('GET /nowhere', 404),
      this.#ask('PATCH /books', 405),
      { bytes: request(`DELETE /book/${id}`), take: expecting(401) },
    ];
    return mistakes[this.#random.below(mistakes.length)] as Exchange;
  }

  #ask(start: string, status: number, body?: string): Exchange {
    return { bytes: request(start, [`Authorization: ${this.#token}`], body), take: expecting(status) };
  }
}

function expecting(status: number): (answer: Answer) => void {
  return (answer) => assert.equal(answer.status, status, answer.body);
}

function dataOf(answer: Answer, status: number): unknown {
  expecting(status)(answer);
  return (JSON.parse(answer.body) as { data: unknown }).data;
}
