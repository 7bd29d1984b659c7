import type { BookFields } from '../src/book/book.ts';
import type { Call } from './journal.ts';

/** What one id stands for: a book, or null where there is none. */
export type State = BookFields | null;

/**
 * Looks for an order in which the calls about one book explain each other: every call takes effect at one moment
 * between its start and its end, and is answered as that moment's book demands (linearizability; the search is that
 * of J. Wing and C. Gong, "Testing and Verifying Concurrent Objects", 1993, with a memory as by G. Lowe, 2017).
 *
 * @param calls acknowledged ones, ones that met no book, and unknown ones that did take effect
 * @param initial the book before the first call
 * @returns undefined where there is such an order; otherwise a call that none explains
 */
export function findUnexplained(calls: readonly Call[], initial: State): Call | undefined {
  const ordered = calls.toSorted((one, other) => one.start - other.start);
  const known = new Set<string>();
  const untried: Position[] = [{ passed: 0, ahead: [], state: initial }];
  let furthest = -1;
  let unexplained: Call | undefined;
  for (let position = untried.pop(); position; position = untried.pop()) {
    const candidates = candidatesAt(ordered, position);
    const [mostUrgent] = candidates;
    if (mostUrgent === undefined) return undefined;
    const steps = stepsFrom(ordered, position, candidates);
    const distance = position.passed + position.ahead.length;
    if (steps.length === 0 && distance > furthest) {
      furthest = distance;
      unexplained = ordered[mostUrgent];
    }
    for (const step of steps.toReversed()) {
      const key = JSON.stringify(step);
      if (!known.has(key)) untried.push(step);
      known.add(key);
    }
  }
  return unexplained;
}

/** How far an order has come: by then these calls have taken effect, and this is the book. */
interface Position {
  /** So many calls, in the order of their starts. */
  readonly passed: number;
  /** Calls beyond those, by their indices in ascending order. */
  readonly ahead: readonly number[];
  readonly state: State;
}

/** The calls that may come next: none of the others was over when they began. The one that ends first comes first. */
function candidatesAt(ordered: readonly Call[], { passed, ahead }: Position): number[] {
  const candidates: number[] = [];
  let firstEnd = Infinity;
  for (let index = passed; index < ordered.length; index++) {
    const { start, end } = ordered[index] as Call;
    if (start > firstEnd) break;
    if (ahead.includes(index)) continue;
    firstEnd = Math.min(firstEnd, end);
    candidates.push(index);
  }
  return candidates.toSorted((one, other) => (ordered[one] as Call).end - (ordered[other] as Call).end);
}

function stepsFrom(ordered: readonly Call[], position: Position, candidates: readonly number[]): Position[] {
  const steps: Position[] = [];
  for (const index of candidates) {
    const state = stateAfter(ordered[index] as Call, position.state);
    if (state === undefined) continue;
    const step = { ...pass(position, index), state };
    // What changes nothing can come at once, and need not be tried later.
    if (state === position.state) return [step];
    steps.push(step);
  }
  return steps;
}

function pass({ passed, ahead }: Position, index: number): Omit<Position, 'state'> {
  const rest = [...ahead, index].toSorted((one, other) => one - other);
  while (rest[0] === passed) {
    rest.shift();
    passed++;
  }
  return { passed, ahead: rest };
}

/** The book after a call, or undefined where the call cannot have ended as it did. */
export function stateAfter(call: Call, state: State): State | undefined {
  const { kind, ending } = call;
  if (ending.is === 'absent') return state === null ? state : undefined;
  if ((kind === 'create') !== (state === null)) return undefined;
  const next = nextState(call, state);
  if (ending.is !== 'done') return next;
  const isOfIt = kind === 'create' || kind === 'delete' || ending.data?.id === call.id;
  return isOfIt && isSame(kind === 'delete' ? null : next, ending.data) ? next : undefined;
}

function nextState(call: Call, state: State): State {
  if (call.kind === 'create') return call.sent;
  if (call.kind === 'update') return state && { ...state, ...call.sent };
  return call.kind === 'delete' ? null : state;
}

/** Whether both are no book, or the same one in all fields. */
export function isSame(one: State, other: State): boolean {
  if (one === null || other === null) return one === other;
  return one.title === other.title && one.author === other.author && one.year === other.year;
}
