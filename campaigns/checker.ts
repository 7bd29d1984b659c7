import type { Book } from '../src/book/contract.ts';
import { judgeFailover, judgeHistory } from './book-history.ts';
import { type Call, createdId } from './journal.ts';
import { isSame } from './linearizability.ts';

/**
 * Checks the books of a store against the responses that its clients received. A trial has rounds: clients send requests,
 * faults are injected, and when every request has ended, all books are listed. Clients never send the same title, author or
 * year twice, so that each value identifies its write, and use only ids from responses or lists.
 */
export class Checker {
  /** The books of the last list. */
  #books: ReadonlyMap<number, Book> = new Map();
  /** Every id that a book ever had. */
  readonly #used = new Set<number>();
  /** Writes of unknown outcome whose effect was not observed. They may take effect in any later round. */
  #pending: readonly Call[] = [];
  /** How many unacknowledged writes were read before a primary ended, and are absent after the failover. */
  vanished = 0;

  /**
   * Checks a round.
   *
   * @param calls the requests of this round and their outcomes
   * @param list all books after it
   * @param primaryEnd after a failover of PostgreSQL, a time of the journal at which the former primary had ended
   * @returns the violations, a sentence each
   */
  judge(calls: readonly Call[], list: readonly Book[], primaryEnd?: number): string[] {
    const books = new Map(list.map((book) => [book.id, book]));
    const violations = books.size < list.length ? ['The list has an id twice.'] : [];
    const unknown = new Set([
      ...this.#pending.map((call) => ({ ...call, start: -1 })),
      ...calls.filter(({ kind, outcome }) => kind !== 'find' && outcome.is === 'unknown'),
    ]);
    const creates = new Map(
      [...unknown].flatMap((call) => (call.kind === 'create' ? [[call.sent.title, call]] : [])),
    );
    const unknownById = Map.groupBy(unknown, idOf);
    const endedById = Map.groupBy(calls.filter(hasEnded), idOf);
    const over = calls.reduce((latest, { end }) => Math.max(latest, end), 0) + 1;

    for (const id of new Set([...this.#books.keys(), ...endedById.keys(), ...books.keys()])) {
      const before = this.#books.get(id) ?? null;
      const after = books.get(id) ?? null;
      const ended = endedById.get(id) ?? [];
      if (ended.length === 0 && isSame(before, after)) continue;
      const ids = { id, wasUsed: this.#used.has(id), unknown: unknownById.get(id) ?? [] };
      const history = { ...ids, before, after, ended, creates, over };
      const judged = judgeHistory(history);
      const excused =
        judged.violation !== undefined && primaryEnd !== undefined
          ? judgeFailover(history, primaryEnd)
          : undefined;
      const { violation, seen, isUsed } = excused ?? judged;
      if (violation !== undefined) violations.push(violation);
      // They cannot take effect any more.
      for (const call of excused?.vanished ?? []) {
        this.vanished++;
        unknown.delete(call);
        if (call.kind === 'create') creates.delete(call.sent.title);
      }
      if (isUsed) this.#used.add(id);
      for (const call of seen) {
        unknown.delete(call);
        if (call.kind === 'create') creates.delete(call.sent.title);
      }
    }
    this.#books = books;
    this.#pending = [...unknown];
    return violations;
  }
}

/** The id of a call; of a create, the one in its response, or -1 without one. */
function idOf(call: Call): number {
  return call.kind === 'create' ? (createdId(call, call.outcome) ?? -1) : call.id;
}

function hasEnded({ outcome }: Call): boolean {
  return outcome.is === 'done' || outcome.is === 'absent';
}
