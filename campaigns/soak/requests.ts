import assert from 'node:assert/strict';
import { makeToken } from '../../conformance/tokens.ts';
import { type RawResponse, request } from '../../testkit/connection.ts';
import { newFields } from '../clients.ts';
import type { Random } from '../random.ts';
import type { Exchange } from '../raw-http/exchanges.ts';

/** The kinds of requests, by frequency. */
const KINDS = [
  ...Array.from({ length: 9 }, () => 'find' as const),
  ...Array.from({ length: 6 }, () => 'create or delete' as const),
  ...Array.from({ length: 3 }, () => 'update' as const),
  'log in',
  'invalid',
] as const;

/** One in this many requests is for the whole list. */
const REQUESTS_PER_LIST = 200;

/** The number of books that each client creates before it deletes any. */
const OWN_BOOKS = 20;

/** The requests of one client: a mix of all kinds. The number of books is constant. */
export class Requests {
  readonly #random: Random;
  readonly #credentials: string;
  readonly #own: number[] = [];
  #token: string;

  /** @param credentials the body of a valid login */
  constructor(secret: string, credentials: string, random: Random) {
    this.#random = random;
    this.#credentials = credentials;
    this.#token = makeToken(secret);
  }

  next(): Exchange {
    const id = this.#random.pick(this.#own);
    if (id === undefined) return this.#create();
    if (this.#random.below(REQUESTS_PER_LIST) === 0) return this.#request('GET /books', 200);
    switch (this.#random.pick(KINDS)) {
      case 'create or delete':
        return this.#own.length < OWN_BOOKS ? this.#create() : this.#delete();
      case 'update':
        return this.#request(
          `PUT /book/${id}`,
          200,
          JSON.stringify({ author: newFields(this.#random).author }),
        );
      case 'log in':
        return this.#logIn();
      case 'invalid':
        return this.#invalid(id);
      default:
        return this.#request(`GET /book/${id}`, 200);
    }
  }

  #create(): Exchange {
    const { bytes } = this.#request('POST /book', 201, JSON.stringify(newFields(this.#random)));
    return { bytes, check: (response) => this.#own.push((dataOf(response, 201) as { id: number }).id) };
  }

  #delete(): Exchange {
    return this.#request(`DELETE /book/${this.#own.shift()}`, 200);
  }

  /** The client uses the new token from then on. */
  #logIn(): Exchange {
    const bytes = request('POST /token', [], this.#credentials);
    return { bytes, check: (response) => (this.#token = (dataOf(response, 200) as { token: string }).token) };
  }

  #invalid(id: number): Exchange {
    const requests = [
      this.#request('POST /book', 400, '{"title":'),
      this.#request(`PUT /book/${id}`, 400, '{"year":"1999"}'),
      this.#request('GET /book/9007199254740991', 404),
      this.#request('GET /nowhere', 404),
      this.#request('DELETE /books', 405),
      { bytes: request(`DELETE /book/${id}`), check: expecting(401) },
    ];
    return this.#random.pick(requests) as Exchange;
  }

  #request(start: string, status: number, body?: string): Exchange {
    return { bytes: request(start, [`Authorization: ${this.#token}`], body), check: expecting(status) };
  }
}

function expecting(status: number): (response: RawResponse) => void {
  return (response) => assert.equal(response.status, status, response.body);
}

function dataOf(response: RawResponse, status: number): unknown {
  expecting(status)(response);
  return (JSON.parse(response.body) as { data: unknown }).data;
}
