import { setTimeout as sleep } from 'node:timers/promises';
import type { Book, BookFields } from '../src/book/book.ts';
import { Chance } from './chance.ts';
import type { Journal, Wish } from './journal.ts';
import { Line, type Target } from './line.ts';

/** How clients call a service. */
export interface Load {
  readonly target: Target;
  readonly journal: Journal;
  /** How many clients there are. */
  readonly count: number;
  readonly seed: number;
  /** Whether a client goes on with its connection, or takes another for every request. */
  readonly keepsConnections?: boolean;
  /** Books that all clients work on; others are added. */
  readonly shared?: readonly number[];
  /** The kinds of requests to draw from. */
  readonly kinds?: readonly Wish['kind'][];
}

const KINDS = ['create', 'create', 'create', 'update', 'update', 'find', 'find', 'delete'] as const;

/** How many books all clients work on: few, so that they meet. */
const SHARED_BOOKS = 8;

/** How long a client waits before it calls again a service that is away. */
const PAUSE_MS = 10;

/** Far longer than any progress takes, on any machine. */
const PROGRESS_MS_MAX = 120_000;

/**
 * Clients that call without a pause, each over its own connection, and note everything in a journal. What they send
 * is never the same twice. They outlast a service that is away, and go on when it is back.
 */
export class Clients {
  readonly #load: Required<Load>;
  readonly #shared: number[];
  readonly #runs: Promise<unknown>;
  #isOver = false;

  constructor(load: Load) {
    this.#load = { keepsConnections: true, shared: [], kinds: KINDS, ...load };
    this.#shared = [...this.#load.shared];
    this.#runs = Promise.all(Array.from({ length: load.count }, (_, index) => this.#run(index)));
    // A client that fails is heard of in stop().
    this.#runs.catch(() => {});
  }

  /** Resolves when so many more writes have been acknowledged. @throws Error when a client fails, or it takes too long */
  async progress(writes: number): Promise<void> {
    const { journal } = this.#load;
    const goal = journal.acknowledged + writes;
    const deadline = performance.now() + PROGRESS_MS_MAX;
    while (journal.acknowledged < goal && !this.#isOver) {
      if (performance.now() > deadline) throw new Error('the service does not go on');
      await Promise.race([sleep(2), this.#runs]);
    }
  }

  /** Resolves when every request under way has ended, and no more will be made. @throws Error when a client failed */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#runs;
  }

  async #run(index: number): Promise<void> {
    const { target, journal, seed, keepsConnections } = this.#load;
    using line = new Line(target);
    const chance = new Chance(seed * 1_000 + index);
    const own: number[] = [];
    while (!this.#isOver) {
      if (!(await line.open())) {
        await sleep(PAUSE_MS);
        continue;
      }
      const wish = this.#choose(chance, own);
      const ending = await journal.note(wish, () => line.ask(wish));
      if (!keepsConnections) line.hangUp();
      if (ending.is === 'unknown') await sleep(PAUSE_MS);
      if (wish.kind === 'create' && ending.is === 'done' && ending.data) {
        (this.#shared.length < SHARED_BOOKS ? this.#shared : own).push(ending.data.id);
      }
      if (wish.kind !== 'create' && ending.is === 'absent') {
        remove(own, wish.id);
        remove(this.#shared, wish.id);
      }
    }
  }

  #choose(chance: Chance, own: readonly number[]): Wish {
    const kind = chance.pick(this.#load.kinds);
    const id = chance.pick(chance.below(2) === 0 ? own : this.#shared);
    if (id === undefined || kind === 'create') return { kind: 'create', sent: newContents(chance) };
    if (kind === 'update') return { kind, id, sent: someOf(newContents(chance), chance) };
    return { kind: kind ?? 'find', id };
  }
}

/** All books of a service, in one answer. */
export async function listBooks(target: Target): Promise<Book[]> {
  using line = new Line(target);
  return await line.list();
}

/** Counts whatever was sent in the life of this process. */
let contentsMade = 0;

/** Fields that were never sent before, of very different lengths. */
export function newContents(chance: Chance): BookFields {
  const number = ++contentsMade;
  const padding = 'ü'.repeat(chance.below(16) === 0 ? chance.below(4_000) : chance.below(40));
  return { title: `title ${number} ${padding}`, author: `author ${number}`, year: number };
}

/** One, two or all of the fields. */
function someOf({ title, author, year }: BookFields, chance: Chance): Partial<BookFields> {
  const choices = [{ title }, { author }, { year }, { title, year }, { title, author, year }];
  return chance.pick(choices) ?? {};
}

function remove(ids: number[], id: number): void {
  const index = ids.indexOf(id);
  if (index >= 0) ids.splice(index, 1);
}
