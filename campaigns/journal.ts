import type { Book, BookFields } from '../src/book/book.ts';

/** What a client requests. */
export type Operation =
  | { readonly kind: 'create'; readonly sent: BookFields; readonly key?: string }
  | { readonly kind: 'update'; readonly id: number; readonly sent: Partial<BookFields> }
  | { readonly kind: 'delete' | 'find'; readonly id: number };

/** The outcome of a request. */
export type Outcome =
  /** It was acknowledged, with this as `data`: a book, or null for a delete. */
  | { readonly is: 'done'; readonly data: Book | null }
  /** 404: there is no such book. */
  | { readonly is: 'absent' }
  /** Any other 4xx: it did not take effect. */
  | { readonly is: 'rejected'; readonly status: number }
  /** 5xx, a lost connection or no response: it may have taken effect, may do so later, or never. */
  | { readonly is: 'unknown'; readonly reason: string };

/**
 * A request and its outcome. `start` and `end` count the events of the journal, so that no two are equal, and a call that
 * ended before another started has an `end` below the other's `start`.
 */
export type Call = Operation & { readonly start: number; readonly end: number; readonly outcome: Outcome };

/** The calls of all clients, in the order in which they ended. */
export class Journal {
  readonly #calls: Call[] = [];
  #events = 0;
  #acknowledged = 0;
  #unknown = 0;

  /** The calls that have ended. */
  get calls(): readonly Call[] {
    return this.#calls;
  }

  /** How many writes were acknowledged. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** How many writes have an unknown outcome. */
  get unknown(): number {
    return this.#unknown;
  }

  /** Records a request. @param send sends it, and resolves when it has ended */
  async record(operation: Operation, send: () => Promise<Outcome>): Promise<Outcome> {
    const start = ++this.#events;
    const outcome = await send();
    this.#calls.push({ ...operation, start, end: ++this.#events, outcome });
    if (operation.kind !== 'find' && outcome.is === 'done') this.#acknowledged++;
    if (operation.kind !== 'find' && outcome.is === 'unknown') this.#unknown++;
    return outcome;
  }
}
