import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Call, Outcome } from '../../campaigns/journal.ts';
import { findUnexplainedCall, type State, stateAfter } from '../../campaigns/linearizability.ts';

const INITIAL: State = { title: 'title', author: 'author', year: 0 };

/** A call before its outcome is known, which depends on the order of the calls. */
const draft = fc.record({
  kind: fc.constantFrom('create', 'update', 'update', 'find', 'find', 'delete'),
  fields: fc.constantFrom('title', 'year', 'all'),
  isUnknown: fc.integer({ max: 4, min: 0 }).map((number) => number === 0),
  start: fc.nat({ max: 12 }),
  length: fc.nat({ max: 8 }),
});
type Draft = typeof draft extends fc.Arbitrary<infer Value> ? Value : never;

test('the linearizability check agrees with trying every order, over small histories', () => {
  const verdicts = { explained: 0, unexplained: 0 };
  fc.assert(
    fc.property(fc.array(draft, { maxLength: 6 }), fc.boolean(), (drafts, startsWithBook) => {
      const initial = startsWithBook ? INITIAL : null;
      const calls = play(drafts, initial);
      const isExplained = hasOrder(calls, initial);
      assert.equal(findUnexplainedCall(calls, initial) === undefined, isExplained);
      verdicts[isExplained ? 'explained' : 'unexplained']++;
    }),
    { numRuns: 3_000 },
  );
  assert.ok(Math.min(verdicts.explained, verdicts.unexplained) > 300, JSON.stringify(verdicts));
});

/** Executes the calls in this order, independent of their starts and ends. */
function play(drafts: readonly Draft[], initial: State): Call[] {
  let state = initial;
  return drafts.map(({ kind, fields, isUnknown, start, length }, index): Call => {
    // No two starts or ends are equal.
    const at = { start: start + index / 100, end: start + length + 0.5 + index / 100 };
    const sent = { title: `title ${index}`, author: `author ${index}`, year: index + 1 };
    const changes = { title: { title: sent.title }, year: { year: sent.year }, all: sent }[fields];
    const ended = (data: State): Outcome =>
      isUnknown ? { is: 'unknown', reason: '' } : { is: 'done', data: data && { id: 1, ...data } };

    if (state === null && kind === 'create') {
      state = sent;
      return { kind, sent, ...at, outcome: ended(state) };
    }
    if (state === null) return { kind: 'find', id: 1, ...at, outcome: { is: 'absent' } };
    if (kind === 'update') {
      state = { ...state, ...changes };
      return { kind, id: 1, sent: changes, ...at, outcome: ended(state) };
    }
    if (kind === 'delete') {
      state = null;
      return { kind, id: 1, ...at, outcome: ended(state) };
    }
    return { kind: 'find', id: 1, ...at, outcome: ended(state) };
  });
}

/** Whether some order explains the calls: tries all. */
function hasOrder(calls: readonly Call[], state: State): boolean {
  const firstEnd = Math.min(...calls.map(({ end }) => end));
  return (
    calls.length === 0 ||
    calls.some((call) => {
      const next = call.start > firstEnd ? undefined : stateAfter(call, state);
      return (
        next !== undefined &&
        hasOrder(
          calls.filter((other) => other !== call),
          next,
        )
      );
    })
  );
}
