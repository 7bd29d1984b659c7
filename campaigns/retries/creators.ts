import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Book, BookFields } from '../../src/book/book.ts';
import { BookClient, type Target } from '../book-client.ts';
import { newFields } from '../clients.ts';
import { Random } from '../random.ts';

/** Far longer than any progress takes, on any machine. */
const PROGRESS_MS_MAX = 120_000;

/** How long a client waits before it sends again what got no answer. */
const PAUSE_MS = 10;

/** Of so many books one is asked for once more, though it was answered. */
const ONCE_MORE_IN = 8;

/** Clients that create books, each with a key, and send every request again until it is answered. */
export class Creators {
  /** The ids that were answered, by title. */
  readonly ids = new Map<string, number>();
  /** How many requests got no answer, and were sent again. */
  retries = 0;
  readonly #target: Target;
  readonly #runs: Promise<unknown>;
  #isOver = false;

  constructor(target: Target, count: number, seed: number) {
    this.#target = target;
    this.#runs = Promise.all(Array.from({ length: count }, (_, index) => this.#run(seed * 1_000 + index)));
    // A client that fails is heard of in stop().
    this.#runs.catch(() => {});
  }

  /** Resolves when so many more books have been created. @throws Error when a client fails, or it takes too long */
  async progress(books: number): Promise<void> {
    const goal = this.ids.size + books;
    const deadline = performance.now() + PROGRESS_MS_MAX;
    while (this.ids.size < goal) {
      if (performance.now() > deadline) throw new Error('the service does not go on');
      await Promise.race([sleep(2), this.#runs]);
    }
  }

  /** Resolves when every request has its answer, and no more will be made. @throws Error when a client failed */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#runs;
  }

  async #run(seed: number): Promise<void> {
    using client = new BookClient(this.#target);
    const random = new Random(seed);
    while (!this.#isOver) {
      const fields = newFields(random);
      const key = randomUUID();
      const { id } = await this.#create(client, fields, key);
      assert.ok(!this.ids.has(fields.title));
      this.ids.set(fields.title, id);
      if (random.below(ONCE_MORE_IN) > 0) continue;
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
