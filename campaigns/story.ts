import type { Book } from '../src/book/book.ts';
import type { Call, Ending } from './journal.ts';
import { findUnexplained } from './order.ts';

/** What befell one id in one round. */
export interface Story {
  readonly id: number;
  /** The book in the list before the round, and in the one after it. */
  readonly before: Book | null;
  readonly after: Book | null;
  /** Whether a book had it in an earlier round. */
  readonly wasGiven: boolean;
  /** The calls about it that were acknowledged, or met no book. */
  readonly ended: readonly Call[];
  /** Unknown changes and deletes of it. */
  readonly unknown: readonly Call[];
  /** All unknown creates by their titles: one of them may have made it. */
  readonly creates: ReadonlyMap<string, Call>;
  /** The moment when everything had ended that was under way. */
  readonly over: number;
}

/** What is to be said of a story. */
export interface Judgement {
  /** What is wrong, in a sentence; undefined where all is well. */
  readonly fault: string | undefined;
  /** The unknown writes that have taken effect. */
  readonly seen: readonly Call[];
  /** Whether a book got this id in this round, or had it before. */
  readonly isGiven: boolean;
}

/** Judges whether the calls about one id explain each other and the lists before and after them. */
export function judgeStory(story: Story): Judgement {
  const { id, before, after, wasGiven, ended, over } = story;
  const seen = findSeen(story);
  const writes = [...ended, ...seen].filter(({ ending }) => ending.is !== 'absent');
  const births = writes.filter(({ kind }) => kind === 'create').length;
  const isGiven = before !== null || births > 0;
  const isDeleted = writes.some(({ kind }) => kind === 'delete');
  const judged = (fault?: string): Judgement => ({ fault, seen, isGiven });

  if (births > (wasGiven ? 0 : 1)) return judged(`The id ${id} was given twice.`);
  if (after && !isGiven)
    return judged(`Book ${id} is listed, and nobody can have made it: ${inJson(after)}.`);
  if (after && isDeleted) return judged(`Book ${id} is listed, though its deletion was acknowledged.`);
  if (!after && isGiven && !isDeleted) return judged(`Book ${id} is lost: acknowledged, and not listed.`);

  const listed = { kind: 'find', id, start: over + 1, end: over + 2, ending: endingOf(after) } satisfies Call;
  const took = seen.map((call) => ({ ...call, end: over }));
  const unexplained = findUnexplained([...ended, ...took, listed], before);
  if (!unexplained) return judged();
  const what = unexplained === listed ? 'the list' : inJson(unexplained);
  return judged(`Book ${id}: no order of all calls explains ${what}.`);
}

/** The unknown writes that must have taken effect, as somebody has seen a sign of them. */
function findSeen({ before, after, ended, unknown, creates }: Story): Call[] {
  const answers = ended.map(({ ending }) => (ending.is === 'done' ? ending.data : null));
  const books = [...answers, after].filter((book) => book !== null);
  const isMade = before !== null || ended.some(({ kind }) => kind === 'create');
  const birth = isMade ? undefined : books.map(({ title }) => creates.get(title)).find((call) => call);
  const changes = unknown.filter(
    (call) => call.kind === 'update' && books.some((book) => showsChange(book, call.sent)),
  );
  // A book that is gone was deleted by the call that was acknowledged; failing that, by one that may have been. That
  // which began first could have done whatever the others could.
  const isGone = after === null && (isMade || birth !== undefined);
  const isDeleted = ended.some(({ kind, ending }) => kind === 'delete' && ending.is === 'done');
  const deletes = unknown
    .filter(({ kind }) => kind === 'delete')
    .toSorted((one, other) => one.start - other.start);
  const removal = isGone && !isDeleted ? deletes[0] : undefined;
  return [birth, ...changes, removal].filter((call) => call !== undefined);
}

function showsChange(book: Book, { title, author, year }: Partial<Book>): boolean {
  return book.title === title || book.author === author || book.year === year;
}

function endingOf(book: Book | null): Ending {
  return book ? { is: 'done', data: book } : { is: 'absent' };
}

function inJson(value: unknown): string {
  return JSON.stringify(value);
}
