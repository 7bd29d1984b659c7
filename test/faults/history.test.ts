import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { findViolation, type Operation } from './history.ts';

const write = (value: number, start: number, end: number): Operation => ({
  kind: 'write',
  value,
  start,
  end,
});
const read = (value: number, start: number, end: number): Operation => ({ kind: 'read', value, start, end });

describe('findViolation', () => {
  test('returns undefined when every read returns a possible value', () => {
    for (const history of [
      [],
      [read(0, 0, 1)],
      [write(1, 0, 1), read(1, 2, 3)],
      [write(1, 0, 9), read(0, 1, 2), read(1, 3, 4), read(1, 10, 11)],
      [write(1, 0, 9), write(2, 0, 9), read(2, 1, 2), read(1, 3, 4)],
      [write(1, 0, 4), read(1, 1, 2), write(2, 3, 9), read(1, 3, 8)],
    ]) {
      assert.equal(findViolation(history, 0), undefined);
    }
  });

  for (const [name, history] of Object.entries({
    'a read of a value that was not written': [write(1, 0, 1), read(7, 2, 3)],
    'a read before the write': [read(1, 0, 1), write(1, 2, 3)],
    'a lost write': [write(1, 0, 1), read(0, 2, 3)],
    'a read of an overwritten value': [write(1, 0, 1), write(2, 2, 3), read(1, 4, 5)],
    'reads in the reverse order of the writes': [write(1, 0, 9), read(1, 1, 2), read(0, 3, 4)],
    'two readers that see two writes in different orders': [
      write(1, 0, 1),
      write(2, 0, 1),
      read(1, 2, 3),
      read(2, 4, 5),
      read(1, 6, 7),
    ],
  })) {
    test(`reports ${name}`, () => {
      assert.notEqual(findViolation(history, 0), undefined);
    });
  }

  test('agrees with an exhaustive search on small histories', () => {
    const operations = fc.tuple(fc.boolean(), fc.nat({ max: 3 }), fc.nat({ max: 12 }), fc.nat({ max: 6 }));
    fc.assert(
      fc.property(fc.array(operations, { maxLength: 6 }), (drafts) => {
        // Starts and ends differ; the first call of a value other than 0 may be its write.
        const history = drafts.map(([isWrite, value, start, length], index): Operation => {
          const isFirst = drafts.findIndex((draft) => draft[0] && draft[1] === value) === index;
          const at = start + index / 100;
          const kind = isWrite && isFirst && value > 0 ? 'write' : 'read';
          return { kind, value, start: at, end: at + length + 0.001 };
        });
        assert.equal(findViolation(history, 0) === undefined, hasOrder(history, 0));
      }),
      { numRuns: 2_000 },
    );
  });
});

/** Whether a sequential order explains the calls; tries all orders. */
function hasOrder(history: readonly Operation[], value: number): boolean {
  const firstEnd = Math.min(...history.map(({ end }) => end));
  return (
    history.length === 0 ||
    history.some((call) => {
      if (call.start > firstEnd || (call.kind === 'read' && call.value !== value)) return false;
      return hasOrder(
        history.filter((other) => other !== call),
        call.value,
      );
    })
  );
}
