import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Life, planted } from '../../campaigns/life.ts';
import { createFolder } from '../support/folder.ts';

/** What the verdict says of a service whose store has a fault, whichever request is the first to show it. */
const COMPLAINTS: Readonly<Record<string, RegExp>> = {
  'answers before the commit':
    /is lost|was given twice|deletion was acknowledged|no order of all calls explains/,
  'ids without AUTOINCREMENT': /was given twice/,
  'an update that reads, merges and writes': /no order of all calls explains/,
  'errors of the store, swallowed': /deletion was acknowledged|no order of all calls explains/,
  'errors of the store, tried again': /nobody can have made it/,
  'reads from a cache': /no order of all calls explains/,
};

/** By then a fault has shown. */
const ROUNDS_MAX = 10;

describe('The verdict on a running service', () => {
  for (const [fault, complaint] of Object.entries(COMPLAINTS)) {
    test(`tells of ${fault}`, async () => {
      assert.match((await findFaults(fault, ROUNDS_MAX)).join('\n'), complaint);
    });
  }

  for (const sound of ['none', 'errors of the store']) {
    test(`tells nothing of ${sound}`, async () => {
      assert.deepEqual(await findFaults(sound, 3), []);
    });
  }
});

/** Plays rounds with a kill in each until the verdict is not clean. @returns the last verdict */
async function findFaults(fault: string, rounds: number): Promise<string[]> {
  await using folder = await createFolder();
  await using life = await Life.begin({
    dbUrl: `sqlite:${join(folder.path, 'books.db')}`,
    seed: 1,
    ...planted(fault),
  });
  await life.start();
  for (let round = 0; round < rounds; round++) {
    const verdict = await life.round(async (clients) => {
      await clients.progress(300);
      await life.kill();
      await life.start();
    });
    if (verdict.length > 0) return verdict;
  }
  return [];
}
