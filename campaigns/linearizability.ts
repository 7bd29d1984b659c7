import type { BookFields } from '../src/book/contract.ts';
import type { Call } from './journal.ts';

/** The book with an id, or null without one. */
export type State = BookFields | null;

/**
 * Checks that the calls for one book are linearizable: that every call takes effect at one moment between its start and its
 * end, and its response is that of this order (the search of J. Wing and C. Gong, "Testing and Verifying Concurrent Objects",
 * 1993, with the cache of visited states of G. Lowe, 2017).
 *
 * @param calls acknowledged ones, ones that ended with 404, and ones of unknown outcome that took effect
 * @param initial the book before the first call
 * @returns undefined when there is such an order; otherwise a call that no order explains
 */
export function findUnexplainedCall(calls: readonly Call[], initial: State): Call | undefined {
  const ordered = calls.toSorted((one, other) => one.start - other.start);
  const visited = new Set<string>();
  const stack: Position[] = [{ passed: 0, ahead: [], state: initial }];
  let furthest = -1;
  let unexplained: Call | undefined;
  for (let position = stack.pop(); position; position = stack.pop()) {
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
      if (!visited.has(key)) stack.push(step);
      visited.add(key);
    }
  }
  return unexplained;
}

/** A state of the search: the calls that have taken effect, and the book after them. */
interface Position {
  /** The number of calls, in the order of their starts, that have all taken effect. */
  readonly passed: number;
  /** The indices of later calls that have taken effect, ascending. */
  readonly ahead: readonly number[];
  readonly state: State;
}

/** The calls that may take effect next: those that started before any other ended. The first to end comes first. */
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
    const step = { ...afterCall(position, index), state };
    // A call that changes nothing can be taken at once: no other order needs to be tried.
    if (state === position.state) return [step];
    steps.push(step);
  }
  return steps;
}

function afterCall({ passed, ahead }: Position, index: number): Omit<Position, 'state'> {
  const rest = [...ahead, index].toSorted((one, other) => one - other);
  while (rest[0] === passed) {
    rest.shift();
    passed++;
  }
  return { passed, ahead: rest };
}

/** The book after a call, or undefined when its outcome contradicts this state. */
export function stateAfter(call: Call, state: State): State | undefined {
  const { kind, outcome } = call;
  if (outcome.is === 'absent') return state === null ? state : undefined;
  if ((kind === 'create') !== (state === null)) return undefined;
  const next = nextState(call, state);
  if (outcome.is !== 'done') return next;
  const hasId = kind === 'create' || kind === 'delete' || outcome.data?.id === call.id;
  return hasId && isSame(kind === 'delete' ? null : next, outcome.data) ? next : undefined;
}

function nextState(call: Call, state: State): State {
  if (call.kind === 'create') return call.sent;
  if (call.kind === 'update') return state && { ...state, ...call.sent };
  return call.kind === 'delete' ? null : state;
}

/** Whether both are null, or equal in all fields. */
export function isSame(one: State, other: State): boolean {
  if (one === null || other === null) return one === other;
  return one.title === other.title && one.author === other.author && one.year === other.year;
}
