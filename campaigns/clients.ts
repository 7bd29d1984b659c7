import { setTimeout as sleep } from 'node:timers/promises';
import type { Book, BookFields } from '../src/book/contract.ts';
import { BookClient, type Target } from './book-client.ts';
import { createdId, type Journal, type Operation } from './journal.ts';
import { Loops } from './loops.ts';
import { Random } from './random.ts';

/** How clients load a service. */
export interface ClientsOptions {
  readonly target: Target;
  readonly journal: Journal;
  /** The number of clients. */
  readonly count: number;
  readonly seed: number;
  /** Whether a client keeps its connection, or opens one for every request. Default: true. */
  readonly keepsConnections?: boolean;
  /** Books that all clients use, from the start on. */
  readonly shared?: readonly number[];
  /** How long a client waits between two requests, in milliseconds. Default: 0. */
  readonly pauseMs?: number;
  /** The kinds of requests to choose from. */
  readonly kinds?: readonly [Operation['kind'], ...Operation['kind'][]];
}

const KINDS = ['create', 'create', 'create', 'update', 'update', 'find', 'find', 'delete'] as const;

/** How many books all clients use: few, so that their requests conflict. */
const SHARED_BOOKS = 8;

/** How long a client waits before it retries while the service is unavailable. */
const PAUSE_MS = 10;

/**
 * Clients that send one request after another, each over its own connection, and record them in a journal. They never send
 * the same fields twice. While the service is unavailable, they retry.
 */
export class Clients {
  readonly #options: Required<ClientsOptions>;
  readonly #shared: number[];
  readonly #loops: Loops;

  constructor(options: ClientsOptions) {
    this.#options = { keepsConnections: true, shared: [], pauseMs: 0, kinds: KINDS, ...options };
    this.#shared = [...this.#options.shared];
    this.#loops = new Loops(
      Array.from({ length: options.count }, (_, index) => (signal) => this.#run(index, signal)),
    );
  }

  /** Resolves when this many more writes are acknowledged. @throws Error when a client fails, or it takes too long */
  async progress(writes: number): Promise<void> {
    const { journal } = this.#options;
    const goal = journal.acknowledged + writes;
    await this.#loops.until(() => journal.acknowledged >= goal);
  }

  /** Stops the clients; resolves when their last requests have ended. @throws Error when a client failed */
  stop(): Promise<void> {
    return this.#loops.stop();
  }

  async #run(index: number, signal: AbortSignal): Promise<void> {
    const { target, journal, seed, keepsConnections, pauseMs } = this.#options;
    using client = new BookClient(target, journal);
    const random = new Random(seed * 1_000 + index);
    const own: number[] = [];
    while (!signal.aborted) {
      if (!(await client.open())) {
        await sleep(PAUSE_MS);
        continue;
      }
      const operation = this.#choose(random, own);
      const outcome = await client.perform(operation);
      if (!keepsConnections) client.disconnect();
      if (pauseMs > 0 || outcome.is === 'unknown') await sleep(Math.max(pauseMs, PAUSE_MS));
      const id = createdId(operation, outcome);
      if (id !== undefined) (this.#shared.length < SHARED_BOOKS ? this.#shared : own).push(id);
      if (operation.kind !== 'create' && outcome.is === 'absent') {
        remove(own, operation.id);
        remove(this.#shared, operation.id);
      }
    }
  }

  #choose(random: Random, own: readonly number[]): Operation {
    const kind = random.pick(this.#options.kinds);
    const id = random.pick(random.below(2) === 0 ? own : this.#shared);
    if (id === undefined || kind === 'create') return { kind: 'create', sent: newFields(random) };
    if (kind === 'update') return { kind, id, sent: randomSubset(newFields(random), random) };
    return { kind, id };
  }
}

/** All books of a service, or those of a query, in one response. */
export async function listBooks(target: Target, query?: string): Promise<Book[]> {
  using client = new BookClient(target);
  return await client.list(query);
}

/** How many fields this process has made. */
let fieldsMade = 0;

/** Fields that were never sent before, of different lengths. */
export function newFields(random: Random): BookFields {
  const number = ++fieldsMade;
  const padding = 'ü'.repeat(random.below(16) === 0 ? random.below(4_000) : random.below(40));
  return { title: `title ${number} ${padding}`, author: `author ${number}`, year: number };
}

/** One, two or all of the fields. */
function randomSubset({ title, author, year }: BookFields, random: Random): Partial<BookFields> {
  return random.pick([{ title }, { author }, { year }, { title, year }, { title, author, year }]);
}

function remove(ids: number[], id: number): void {
  const index = ids.indexOf(id);
  if (index >= 0) ids.splice(index, 1);
}
