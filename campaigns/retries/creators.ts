import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Book, BookFields } from '../../src/book/contract.ts';
import { BookClient, type Target } from '../book-client.ts';
import { newFields } from '../clients.ts';
import { Loops } from '../loops.ts';
import { Random } from '../random.ts';

/** How long a client waits before it retries. */
const PAUSE_MS = 10;

/** One in this many acknowledged creates is repeated. */
const CREATES_PER_REPETITION = 8;

/** Clients that create books, each with a key, and retry every request until it gets a response. */
export class Creators {
  /** The ids in the responses, by title. */
  readonly ids = new Map<string, number>();
  /** How many requests got no response, and were retried. */
  retries = 0;
  readonly #target: Target;
  readonly #loops: Loops;

  constructor(target: Target, count: number, seed: number) {
    this.#target = target;
    this.#loops = new Loops(
      Array.from({ length: count }, (_, index) => (signal) => this.#run(seed * 1_000 + index, signal)),
    );
  }

  /** Resolves when this many more books have been created. @throws Error when a client fails, or it takes too long */
  async progress(books: number): Promise<void> {
    const goal = this.ids.size + books;
    await this.#loops.until(() => this.ids.size >= goal);
  }

  /** Stops the clients; resolves when every request has its response. @throws Error when a client failed */
  stop(): Promise<void> {
    return this.#loops.stop();
  }

  async #run(seed: number, signal: AbortSignal): Promise<void> {
    using client = new BookClient(this.#target);
    const random = new Random(seed);
    while (!signal.aborted) {
      const fields = newFields(random);
      const key = randomUUID();
      const { id } = await this.#create(client, fields, key);
      assert.ok(!this.ids.has(fields.title));
      this.ids.set(fields.title, id);
      if (random.below(CREATES_PER_REPETITION) > 0) continue;
      assert.equal((await this.#create(client, fields, key)).id, id, `${fields.title} was created again`);
    }
  }

  async #create(client: BookClient, fields: BookFields, key: string): Promise<Book> {
    for (;;) {
      if (await client.open()) {
        const outcome = await client.perform({ kind: 'create', sent: fields, key });
        if (outcome.is === 'done') {
          assert.deepEqual(outcome.data, { id: outcome.data?.id, ...fields });
          return outcome.data;
        }
        assert.equal(outcome.is, 'unknown');
        this.retries++;
      }
      await sleep(PAUSE_MS);
    }
  }
}
