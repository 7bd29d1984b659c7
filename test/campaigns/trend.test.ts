import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Random } from '../../campaigns/random.ts';
import { trendOf } from '../../campaigns/soak/trend.ts';

describe('A trend', () => {
  test('is found in values whose rise is smaller than their noise', () => {
    for (let seed = 0; seed < 100; seed++) {
      const { slope, isCertain } = trendOf(rising(1, new Random(seed)));
      assert.ok(isCertain && Math.abs(slope - 1) < 0.4, `${seed}: ${slope}`);
    }
  });

  test('is found in about 5 % of samples without one', () => {
    const found = Array.from({ length: 1_000 }, (_, seed) => trendOf(rising(0, new Random(seed))).isCertain);
    const share = found.filter((isCertain) => isCertain).length / found.length;
    assert.ok(share > 0.03 && share < 0.07, `${share}`);
  });

  test('is 0 for equal values', () => {
    assert.deepEqual(trendOf([7, 7, 7, 7, 7]), { slope: 0, isCertain: false });
  });
});

/** Values with noise below 10 on a rising line. */
function rising(perStep: number, random: Random): number[] {
  return Array.from({ length: 30 }, (_, step) => 100 + step * perStep + random.below(10));
}
