import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Chance } from '../../campaigns/chance.ts';
import { trendOf } from '../../campaigns/soak/trend.ts';

describe('A trend', () => {
  test('is told where values rise by less than they scatter', () => {
    for (let seed = 0; seed < 100; seed++) {
      const { slope, isCertain } = trendOf(rising(1, new Chance(seed)));
      assert.ok(isCertain && Math.abs(slope - 1) < 0.4, `${seed}: ${slope}`);
    }
  });

  test('is hardly ever told where there is none', () => {
    const told = Array.from({ length: 1_000 }, (_, seed) => trendOf(rising(0, new Chance(seed))).isCertain);
    const share = told.filter((isCertain) => isCertain).length / told.length;
    assert.ok(share > 0.03 && share < 0.07, `${share}`);
  });

  test('is none where all values are the same', () => {
    assert.deepEqual(trendOf([7, 7, 7, 7, 7]), { slope: 0, isCertain: false });
  });
});

/** Values that scatter by 10, on ground that rises. */
function rising(perStep: number, chance: Chance): number[] {
  return Array.from({ length: 30 }, (_, step) => 100 + step * perStep + chance.below(10));
}
