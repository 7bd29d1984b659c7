import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Progress, type ProgressState } from '../../src/cli/progress.ts';

/** The output on a terminal with this number of columns. */
async function show(state: ProgressState, columns: number): Promise<string> {
  const screen = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true, columns });
  {
    using progress = new Progress('rows', () => state, screen);
    while (screen.readableLength === 0) {
      progress.update();
      await sleep(10);
    }
    progress.print('line 7: it is not JSON');
  }
  return String(screen.read());
}

describe('The progress of an import', () => {
  for (const [columns, bar] of [
    [200, '███████████████░░░░░░░░░░░░░░░ '],
    [80, '███████████████░░░░░░░░░░░░░░░ '],
    [50, '██+░░+ '],
    [40, ''],
  ] as const) {
    test(`is a bar with rate and remaining time on a terminal with ${columns} columns, and lines are printed above it`, async () => {
      const [drawn = '', ...rest] = (await show({ count: 45_000, fraction: 0.5 }, columns)).split('\u001b');
      assert.match(drawn, new RegExp(`^${bar}50 %, 45,000 rows, [0-9,]+/s, [0-9]+ s left$`));
      assert.ok(drawn.length < columns);
      // Cursor to column 1, and clear the line.
      assert.deepEqual(rest, ['[1G', '[2Kline 7: it is not JSON\n']);
    });
  }

  test('has no bar when the size is unknown', async () => {
    const [drawn = ''] = (await show({ count: 45_000, fraction: undefined }, 80)).split('\u001b');
    assert.match(drawn, /^45,000 rows, [0-9,]+\/s$/);
  });

  test('has only a percentage when nothing is counted', async () => {
    const [drawn = ''] = (await show({ count: undefined, fraction: 0.25 }, 80)).split('\u001b');
    assert.match(drawn, /^█+░+ 25 %, [0-9]+ s left$/);
  });

  test('is empty in the first seconds without a terminal', () => {
    const screen = new PassThrough({ encoding: 'utf8' });
    {
      using progress = new Progress('rows', () => ({ count: 1, fraction: 0.5 }), screen);
      progress.update();
    }
    assert.equal(screen.read(), null);
  });
});
