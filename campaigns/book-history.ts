import { type Book, FIELD_NAMES } from '../src/book/contract.ts';
import type { Call, Outcome } from './journal.ts';
import { findUnexplainedCall } from './linearizability.ts';

/** What happened to one id in one round. */
export interface BookHistory {
  readonly id: number;
  /** The book in the list before the round, and in the one after it. */
  readonly before: Book | null;
  readonly after: Book | null;
  /** Whether a book had it in an earlier round. */
  readonly wasUsed: boolean;
  /** The calls for it that were acknowledged, or ended with 404. */
  readonly ended: readonly Call[];
  /** Its updates and deletes of unknown outcome. */
  readonly unknown: readonly Call[];
  /** All creates of unknown outcome by title: one of them may have created it. */
  readonly creates: ReadonlyMap<string, Call>;
  /** A time after the end of every call. */
  readonly over: number;
}

/** The verdict on a history. */
interface HistoryVerdict {
  /** The violation, in a sentence. */
  readonly violation: string | undefined;
  /** The writes of unknown outcome that took effect. */
  readonly seen: readonly Call[];
  /** Whether a book has or had this id. */
  readonly isUsed: boolean;
}

/** Checks that the calls for one id are linearizable, together with the lists before and after them. */
export function judgeHistory(history: BookHistory): HistoryVerdict {
  const { id, before, after, wasUsed, ended, over } = history;
  const seen = findSeen(history);
  const writes = [...ended, ...seen].filter(({ outcome }) => outcome.is !== 'absent');
  const creates = writes.filter(({ kind }) => kind === 'create').length;
  const isUsed = before !== null || creates > 0;
  const isDeleted = writes.some(({ kind }) => kind === 'delete');
  const judged = (violation?: string): HistoryVerdict => ({ violation, seen, isUsed });

  if (creates > (wasUsed ? 0 : 1)) return judged(`The id ${id} was assigned twice.`);
  if (after && !isUsed)
    return judged(`Book ${id} is listed, but no request can have created it: ${inJson(after)}.`);
  if (after && isDeleted) return judged(`Book ${id} is listed, though its deletion was acknowledged.`);
  if (!after && isUsed && !isDeleted)
    return judged(`Book ${id} is lost: it was acknowledged, and is not listed.`);

  const listed = {
    kind: 'find',
    id,
    start: over + 1,
    end: over + 2,
    outcome: outcomeOf(after),
  } satisfies Call;
  const took = seen.map((call) => ({ ...call, end: over }));
  const unexplained = findUnexplainedCall([...ended, ...took, listed], before);
  if (!unexplained) return judged();
  const what = unexplained === listed ? 'the list' : inJson(unexplained);
  return judged(`Book ${id}: no order of all calls explains ${what}.`);
}

/**
 * Judges a history that has a violation by what PostgreSQL allows in a failover: when the primary ends, writes that wait for the standby
 * become visible to others, and the standby may not have them. So reads that began before its end may show writes of unknown outcome that
 * are absent afterwards.
 *
 * @param primaryEnd a time at which the former primary had ended
 * @returns the verdict, and the writes that have vanished; undefined when they do not explain the history
 */
export function judgeFailover(
  history: BookHistory,
  primaryEnd: number,
): (HistoryVerdict & { readonly vanished: readonly Call[] }) | undefined {
  const { before, ended, unknown, creates } = history;
  const former = ended.filter(({ start }) => start < primaryEnd);
  const reads = former.filter(({ kind, outcome }) => kind === 'find' || outcome.is === 'absent');
  const found = reads.flatMap(({ outcome }) => (outcome.is === 'done' && outcome.data ? [outcome.data] : []));
  const others = { ...history, ended: ended.filter((call) => !reads.includes(call)) };
  const lasting = new Set(findSeen(others));

  const creation = before ? undefined : found.map(({ title }) => creates.get(title)).find((call) => call);
  const changes = unknown.filter(
    (call) => call.kind === 'update' && found.some((book) => showsChange(book, call.sent)),
  );
  const isMissing = reads.some(({ outcome }) => outcome.is === 'absent');
  const removal = isMissing ? firstDelete(unknown) : undefined;
  const vanished = [creation, ...changes, removal].filter((call) => call && !lasting.has(call)) as Call[];
  if (vanished.length === 0) return undefined;

  const shows = ({ outcome }: Call) =>
    outcome.is === 'done' && outcome.data
      ? vanished.some((call) => showsWrite(outcome.data as Book, call))
      : vanished.includes(removal as Call);
  const shown = reads.filter(shows);
  // What the former primary has shown is one history, and what remains without these reads another.
  const took = [...vanished, ...lasting].filter(({ start }) => start < primaryEnd);
  if (findUnexplainedCall([...former, ...took.map((call) => ({ ...call, end: history.over }))], before))
    return undefined;
  const verdict = judgeHistory({
    ...history,
    ended: ended.filter((call) => !shown.includes(call)),
    unknown: unknown.filter((call) => !vanished.includes(call)),
    creates: new Map([...creates].filter(([, call]) => !vanished.includes(call))),
  });
  const isAssigned = creation !== undefined && (history.wasUsed || verdict.isUsed);
  if (verdict.violation !== undefined || isAssigned) return undefined;
  return { ...verdict, isUsed: verdict.isUsed || creation !== undefined, vanished };
}

function showsWrite(book: Book, call: Call): boolean {
  return (call.kind === 'create' || call.kind === 'update') && showsChange(book, call.sent);
}

/** The first delete to start explains whatever a later one would. */
function firstDelete(calls: readonly Call[]): Call | undefined {
  return calls.filter(({ kind }) => kind === 'delete').toSorted((one, other) => one.start - other.start)[0];
}

/** The writes of unknown outcome that took effect, as later responses show. */
function findSeen({ before, after, ended, unknown, creates }: BookHistory): Call[] {
  const responses = ended.map(({ outcome }) => (outcome.is === 'done' ? outcome.data : null));
  const books = [...responses, after].filter((book) => book !== null);
  const isCreated = before !== null || ended.some(({ kind }) => kind === 'create');
  const creation = isCreated ? undefined : books.map(({ title }) => creates.get(title)).find((call) => call);
  const changes = unknown.filter(
    (call) => call.kind === 'update' && books.some((book) => showsChange(book, call.sent)),
  );
  // A missing book was deleted by an acknowledged call, or else by one of unknown outcome.
  const isMissing = after === null && (isCreated || creation !== undefined);
  const isDeleted = ended.some(({ kind, outcome }) => kind === 'delete' && outcome.is === 'done');
  const removal = isMissing && !isDeleted ? firstDelete(unknown) : undefined;
  return [creation, ...changes, removal].filter((call) => call !== undefined);
}

function showsChange(book: Book, sent: Partial<Book>): boolean {
  return FIELD_NAMES.some((name) => book[name] === sent[name]);
}

function outcomeOf(book: Book | null): Outcome {
  return book ? { is: 'done', data: book } : { is: 'absent' };
}

function inJson(value: unknown): string {
  return JSON.stringify(value);
}
