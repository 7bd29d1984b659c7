import assert from 'node:assert/strict';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { Random } from '../random.ts';
import { createAddress } from '../service.ts';
import { Trial } from '../trial.ts';

export const campaign: Campaign = {
  summary: 'SIGKILL under 16 writing clients, and again while the service restarts, in every round',
  recorded: ['kills', 'acknowledged'],
  engines: ['SQLite', 'PostgreSQL'],
  full: { rounds: [150, 50] },
  short: { rounds: [1, 1] },
  run,
};

/** The minimum of acknowledged writes before a kill, and after the restart. */
const WRITES_BEFORE = 400;
const WRITES_AFTER = 100;

async function run({ engine, rounds, seed, report }: CampaignOptions): Promise<Figures> {
  await using address = await createAddress(engine);
  await using trial = await Trial.open({ dbUrl: address.dbUrl, seed });
  const random = new Random(seed);
  let startMs = await trial.start();
  for (let round = 1; round <= rounds; round++) {
    const violations = await trial.round(async (clients) => {
      await clients.progress(WRITES_BEFORE + random.below(WRITES_BEFORE));
      await trial.kill();
      await trial.startAndKill(random.next() * startMs);
      startMs = await trial.start();
      await clients.progress(WRITES_AFTER);
    });
    assert.deepEqual(violations, [], `round ${round}`);
    if (round % 10 === 0) report(`${round} rounds, ${trial.writes.acknowledged} writes acknowledged`);
  }
  return { kills: 2 * rounds, ...trial.writes };
}
