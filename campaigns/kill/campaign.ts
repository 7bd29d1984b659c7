import { engines } from '../../test/support/engines.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { Chance } from '../chance.ts';
import { assertClean, Life } from '../life.ts';

export const campaign: Campaign = {
  summary: 'SIGKILL under 16 writing clients, and once more while the service starts again, in every round',
  rounds: [200, 50],
  engines: ['SQLite', 'PostgreSQL'],
  run,
};

/** How many writes are acknowledged before a kill, at least, and after the start that follows. */
const WRITES_BEFORE = 400;
const WRITES_AFTER = 100;

async function run({ engine, rounds, seed, report }: CampaignOptions): Promise<Figures> {
  await using address = await engines.find(({ name }) => name === engine)?.createAddress();
  await using life = await Life.begin({ dbUrl: address?.dbUrl ?? '', seed });
  const chance = new Chance(seed);
  let startMs = await life.start();
  for (let round = 1; round <= rounds; round++) {
    const verdict = await life.round(async (clients) => {
      await clients.progress(WRITES_BEFORE + chance.below(WRITES_BEFORE));
      await life.kill();
      await life.startAndKill(chance.next() * startMs);
      startMs = await life.start();
      await clients.progress(WRITES_AFTER);
    });
    assertClean(verdict, round);
    if (round % 10 === 0) report(`${round} rounds, ${life.writes.acknowledged} writes acknowledged`);
  }
  return { kills: 2 * rounds, ...life.writes };
}
