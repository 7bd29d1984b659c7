import assert from 'node:assert/strict';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { listBooks } from '../clients.ts';
import { Random } from '../random.ts';
import { createAddress } from '../service.ts';
import { Trial } from '../trial.ts';
import { Creators } from './creators.ts';

export const campaign: Campaign = {
  summary: 'SIGKILL under 16 clients that retry every create with its Idempotency-Key, twice in every round',
  recorded: ['kills', 'books', 'retries'],
  engines: ['SQLite', 'PostgreSQL'],
  full: { rounds: [100, 60] },
  short: { rounds: [1, 1] },
  run,
};

const CLIENTS = 16;

/** The minimum of books created before a kill, and after the restart. */
const BOOKS_BEFORE = 200;
const BOOKS_AFTER = 50;

async function run({ engine, rounds, seed, report }: CampaignOptions): Promise<Figures> {
  await using address = await createAddress(engine);
  await using trial = await Trial.open({ dbUrl: address.dbUrl, seed });
  const random = new Random(seed);
  const ids = new Map<string, number>();
  let retries = 0;
  let startMs = await trial.start();
  for (let round = 1; round <= rounds; round++) {
    const creators = new Creators(trial.target, CLIENTS, seed + round);
    await creators.progress(BOOKS_BEFORE + random.below(BOOKS_BEFORE));
    await trial.kill();
    await trial.startAndKill(random.next() * startMs);
    startMs = await trial.start();
    await creators.progress(BOOKS_AFTER);
    await creators.stop();

    for (const [title, id] of creators.ids) ids.set(title, id);
    retries += creators.retries;
    const books = await listBooks(trial.target);
    assert.equal(books.length, ids.size, `round ${round}: books that no response reported`);
    for (const { id, title } of books) assert.equal(ids.get(title), id, `round ${round}`);
    if (round % 10 === 0) report(`${round} rounds, ${ids.size} books, ${retries} retries`);
  }
  return { kills: 2 * rounds, books: ids.size, retries };
}
