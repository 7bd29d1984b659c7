import type { Book, BookFields } from '../src/book/book.ts';

/** What a client asks for. */
export type Wish =
  | { readonly kind: 'create'; readonly sent: BookFields; readonly key?: string }
  | { readonly kind: 'update'; readonly id: number; readonly sent: Partial<BookFields> }
  | { readonly kind: 'delete' | 'find'; readonly id: number };

/** How a request ended. */
export type Ending =
  /** It was acknowledged, with this as `data`: a book, or null for a delete. */
  | { readonly is: 'done'; readonly data: Book | null }
  /** 404: there is no such book. */
  | { readonly is: 'absent' }
  /** Any other 4xx: it certainly did not happen. */
  | { readonly is: 'refused'; readonly status: number }
  /** 5xx, a lost connection or silence: it may have happened, may still happen, or never will. */
  | { readonly is: 'unknown'; readonly reason: string };

/**
 * A request and how it ended. It was on its way from `start` to `end`, which count what the journal saw happen: so no
 * two of them are equal, and of two calls one was over before the other began if its end is below the other's start.
 */
export type Call = Wish & { readonly start: number; readonly end: number; readonly ending: Ending };

/** What clients asked of a service and were answered, in the order of the answers. */
export class Journal {
  readonly #calls: Call[] = [];
  #moment = 0;
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

  /** How many writes ended without anybody knowing whether they happened. */
  get unknown(): number {
    return this.#unknown;
  }

  /** Notes a request. @param send sends it, and resolves when it has ended */
  async note(wish: Wish, send: () => Promise<Ending>): Promise<Ending> {
    const start = ++this.#moment;
    const ending = await send();
    this.#calls.push({ ...wish, start, end: ++this.#moment, ending });
    if (wish.kind !== 'find' && ending.is === 'done') this.#acknowledged++;
    if (wish.kind !== 'find' && ending.is === 'unknown') this.#unknown++;
    return ending;
  }
}
