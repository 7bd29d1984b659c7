import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Trial, withFault } from '../../campaigns/trial.ts';
import { createFolder } from '../../testkit/folder.ts';

/** The violations that a planted fault may cause, whichever request shows it first. */
const VIOLATIONS: Readonly<Record<string, RegExp>> = {
  'responses before the commit':
    /is lost|was assigned twice|deletion was acknowledged|no order of all calls explains/,
  'ids without AUTOINCREMENT': /was assigned twice/,
  'an update that reads, merges and writes': /no order of all calls explains/,
  'errors of the store, swallowed': /deletion was acknowledged|no order of all calls explains/,
  'errors of the store, retried': /no request can have created it/,
  'reads from a cache': /no order of all calls explains/,
};

/** The fault that only a kill shows. */
const SHOWN_BY_KILL = 'responses before the commit';

/** Within this many rounds every fault shows. */
const ROUNDS_MAX = 10;

describe('The verdict on a running service', () => {
  for (const [fault, violation] of Object.entries(VIOLATIONS)) {
    test(`reports ${fault}`, async () => {
      const violations = await findViolations(fault, ROUNDS_MAX, fault === SHOWN_BY_KILL);
      assert.match(violations.join('\n'), violation);
    });
  }

  for (const harmless of ['none', 'errors of the store']) {
    test(`reports no violation with the fault '${harmless}'`, async () => {
      assert.deepEqual(await findViolations(harmless, 1, true), []);
    });
  }
});

/**
 * Runs rounds until there are violations.
 *
 * @param kills whether the service is killed and restarted in each
 * @returns the violations of the last round
 */
async function findViolations(fault: string, rounds: number, kills: boolean): Promise<string[]> {
  await using folder = await createFolder();
  await using trial = await Trial.open({
    dbUrl: `sqlite:${join(folder.path, 'books.db')}`,
    seed: 1,
    ...withFault(fault),
  });
  await trial.start();
  for (let round = 0; round < rounds; round++) {
    const violations = await trial.round(async (clients) => {
      await clients.progress(300);
      if (!kills) return;
      await trial.kill();
      await trial.start();
    });
    if (violations.length > 0) return violations;
  }
  return [];
}
