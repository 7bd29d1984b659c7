import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Book } from '../../src/book.ts';
import { outcomes } from '../../src/http/outcomes.ts';
import type { Service } from '../http/service.ts';

/** What came of a request that a fault may have hit. */
export interface Outcome {
  readonly status: number;
  readonly data: unknown;
}

/** Sends a request, and asserts that it is answered in the envelope: as usual, or with 503 and Retry-After. */
export async function ask(service: Service, method: string, path: string, body?: string): Promise<Outcome> {
  const answer = await service.fetch(method, path, body);
  const envelope = (await answer.json()) as { status: number; message: string; data: unknown };
  const { status, message, data } = envelope;
  assert.deepEqual(Object.keys(envelope), ['status', 'message', 'data']);
  assert.equal(status, answer.status);
  if (status >= 500) {
    assert.deepEqual([status, message, data], [503, outcomes.serviceUnavailable.message, null]);
    assert.match(answer.headers.get('retry-after') ?? '', /^[1-9][0-9]*$/);
  }
  return { status, data };
}

/** Every request that needs the store, for a book that exists. */
export async function askEverything(service: Service, id: number): Promise<number[]> {
  const answers = await Promise.all([
    ask(service, 'GET', '/books'),
    ask(service, 'GET', `/book/${id}`),
    ask(service, 'POST', '/book', '{}'),
    ask(service, 'PUT', `/book/${id}`, '{"year":1}'),
    ask(service, 'PUT', `/book/${id}`, '{'),
    ask(service, 'DELETE', `/book/${id}`),
  ]);
  return answers.map(({ status }) => status);
}

/** Resolves when the service creates a book again, which it has to do by itself. @returns the book's id */
export async function recovery(service: Service): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const { status, data } = await ask(service, 'POST', '/book', '{}');
    if (status === 201) return (data as Book).id;
    await sleep(50);
  }
  throw new Error('the service does not recover');
}

/** Clients that create books without a pause, and remember what was acknowledged. */
export class Load {
  readonly #service: Service;
  readonly #acknowledged = new Set<number>();
  readonly #clients: Promise<void>[];
  #isOver = false;
  /** How many requests were answered with 503. */
  refused = 0;

  constructor(service: Service, clients = 8) {
    this.#service = service;
    this.#clients = Array.from({ length: clients }, () => this.#create());
  }

  /** How many books were acknowledged so far. */
  get acknowledged(): number {
    return this.#acknowledged.size;
  }

  /** Resolves when so many more books have been acknowledged. */
  async progress(books = 50): Promise<void> {
    const goal = this.acknowledged + books;
    while (this.acknowledged < goal) await Promise.race([sleep(5), ...this.#clients]);
  }

  /** Ends the load, and asserts that every acknowledged book is in the list. */
  async finish(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    const { data } = await ask(this.#service, 'GET', '/books');
    const ids = (data as Book[]).map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    assert.deepEqual([...this.#acknowledged.difference(new Set(ids))], [], 'acknowledged, and lost');
  }

  async #create(): Promise<void> {
    while (!this.#isOver) {
      const { status, data } = await ask(this.#service, 'POST', '/book', '{}');
      if (status === 201) {
        const { id } = data as Book;
        assert.ok(!this.#acknowledged.has(id), 'an id given out twice');
        this.#acknowledged.add(id);
      } else {
        assert.equal(status, 503);
        this.refused++;
        await sleep(20);
      }
    }
  }
}
