import type { Book, BookFields } from '../src/book/contract.ts';

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

/** A call with its times, in milliseconds of `performance.now()`. */
export type TimedCall = Call & { readonly startMs: number; readonly endMs: number };

/** The calls of all clients, in the order in which they ended. */
export class Journal {
  readonly calls: readonly TimedCall[] = [];
  /** How many writes were acknowledged. */
  acknowledged = 0;
  /** How many writes have an unknown outcome. */
  unknown = 0;
  #events = 0;

  /** Records a request. @param send sends it, and resolves when it has ended */
  async record(operation: Operation, send: () => Promise<Outcome>): Promise<Outcome> {
    const start = ++this.#events;
    const startMs = performance.now();
    const outcome = await send();
    const call = { ...operation, start, end: ++this.#events, outcome, startMs, endMs: performance.now() };
    (this.calls as TimedCall[]).push(call);
    if (operation.kind !== 'find' && outcome.is === 'done') this.acknowledged++;
    if (operation.kind !== 'find' && outcome.is === 'unknown') this.unknown++;
    return outcome;
  }

  /** Counts an event of the trial. @returns its time, as `start` and `end` of calls */
  mark(): number {
    return ++this.#events;
  }

  /** The time from this moment to the end of the first acknowledged write after it; NaN without one. */
  firstWriteMs(afterMs: number): number {
    const isFirst = ({ kind, outcome, endMs }: TimedCall) =>
      kind !== 'find' && outcome.is === 'done' && endMs >= afterMs;
    return (this.calls.find(isFirst)?.endMs ?? Number.NaN) - afterMs;
  }
}

/** The id in the response to a create; undefined without one, and for other calls. */
export function createdId({ kind }: Operation, outcome: Outcome): number | undefined {
  return kind === 'create' && outcome.is === 'done' ? outcome.data?.id : undefined;
}
