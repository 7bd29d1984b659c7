import type { Book } from '../src/book/book.ts';
import type { Call } from './journal.ts';
import { isSame } from './order.ts';
import { judgeStory } from './story.ts';

/**
 * Holds the life of one store to what its clients were answered. A life has rounds: clients call, whatever befalls
 * the service, and at the end, when no call is under way any more, all books are listed. Clients must never send the
 * same title, author or year twice, so that it shows which write a value comes from, and use only ids that were
 * answered or listed.
 */
export class Checker {
  /** The books as they were listed last. */
  #books: ReadonlyMap<number, Book> = new Map();
  /** Every id that was ever given. */
  readonly #given = new Set<number>();
  /** Unknown writes that nobody has seen a sign of. They may still take effect, in any later round. */
  #unseen: readonly Call[] = [];

  /**
   * Judges a round.
   *
   * @param calls what clients asked in this round, and how it ended
   * @param list all books after it
   * @returns what is wrong, in a sentence each; nothing where all is well
   */
  judge(calls: readonly Call[], list: readonly Book[]): string[] {
    const books = new Map(list.map((book) => [book.id, book]));
    const faults = books.size < list.length ? ['The list has an id twice.'] : [];
    const unknown = new Set([
      ...this.#unseen.map((call) => ({ ...call, start: -1 })),
      ...calls.filter(({ kind, ending }) => kind !== 'find' && ending.is === 'unknown'),
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
      const wasGiven = this.#given.has(id);
      const story = { id, before, after, wasGiven, ended, unknown: unknownById.get(id) ?? [], creates, over };
      const { fault, seen, isGiven } = judgeStory(story);
      if (fault !== undefined) faults.push(fault);
      if (isGiven) this.#given.add(id);
      for (const call of seen) {
        unknown.delete(call);
        if (call.kind === 'create') creates.delete(call.sent.title);
      }
    }
    this.#books = books;
    this.#unseen = [...unknown];
    return faults;
  }
}

/** The id that a call was about; of a create, the one in its answer, or -1 where there is none. */
function idOf(call: Call): number {
  if (call.kind !== 'create') return call.id;
  return call.ending.is === 'done' ? (call.ending.data?.id ?? -1) : -1;
}

function hasEnded({ ending }: Call): boolean {
  return ending.is === 'done' || ending.is === 'absent';
}
