import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Campaign } from '../../campaigns/campaign.ts';
import { programs } from '../../campaigns/needs.ts';
import { runAll } from '../../campaigns/run-all.ts';

const options = { isShort: true, rounds: undefined, seed: 1, engine: undefined, cluster: undefined };

const campaign: Campaign = {
  summary: '',
  recorded: [],
  engines: ['SQLite'],
  full: { rounds: [1] },
  short: { rounds: [1] },
  run: async () => ({}),
};

test('All campaigns: each has a line, one that lacks what it needs is skipped, and one that fails makes the run fail', async (context) => {
  const lines = linesOf(context);
  const skipped = {
    name: 'first',
    campaign: { ...campaign, needs: programs(['a-program-that-nobody-has']) },
  };
  assert.equal(await runAll([skipped], options), true);
  // Its process ends, as there is no folder of this name.
  assert.equal(await runAll([skipped, { name: 'second', campaign }], options), false);
  const [first, summary, , second, last] = lines();
  assert.match(first ?? '', /^first +skipped +needs a-program-that-nobody-has$/);
  assert.match(summary ?? '', /^1 campaigns in .*: 0 passed, 0 failed, 1 skipped \(first\)$/);
  assert.match(second ?? '', /^second +failed +\d+ s {2}exit code 2\n.*there is no campaign second/s);
  assert.match(last ?? '', /^2 campaigns in .*: 0 passed, 1 failed \(second\), 1 skipped \(first\)$/);
});

/** The lines that are printed from now on. */
function linesOf(context: TestContext): () => string[] {
  const { mock } = context.mock.method(console, 'log', () => {});
  return () => mock.calls.map(({ arguments: [line] }) => String(line));
}
