import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { batchesOf } from '../../console/src/state/files/batches.ts';
import { readBooks } from '../../console/src/state/files/check-file.ts';
import { importBatches, type Phase } from '../../console/src/state/files/import-batches.ts';
import { openRowFile } from '../../console/src/state/files/row-file.ts';
import { createClient } from '../../src/client/index.ts';
import { PASSWORD, USERNAME } from '../../testkit/service.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { Random } from '../random.ts';
import { createAddress } from '../service.ts';
import { Trial } from '../trial.ts';

export const campaign: Campaign = {
  summary: 'SIGKILL, three times, while the web console imports 10,000 books, in every round',
  rounds: [20, 20],
  engines: ['SQLite', 'PostgreSQL'],
  run,
};

const BOOKS = 10_000;
const KILLS = 3;
const MAPPING = { title: 'title', author: 'author', year: 'year' };

async function run({ engine, rounds, seed, report }: CampaignOptions): Promise<Figures> {
  await using address = await createAddress(engine);
  await using trial = await Trial.open({ dbUrl: address.dbUrl, seed });
  const random = new Random(seed);
  const url = `http://127.0.0.1:${trial.target.port}`;
  const client = createClient({ url, username: USERNAME, password: PASSWORD, attemptsMax: 3 });
  let outages = 0;
  const expected: string[] = [];
  await trial.start();
  for (let round = 1; round <= rounds; round++) {
    const titles = Array.from({ length: BOOKS }, (_, n) => `Book ${n} of round ${round}`);
    expected.push(...titles);
    const progress = { stored: 0, isDone: false };
    let last: Phase = 'sending';
    const onPhase = (phase: Phase) => {
      if (phase === 'waiting' && last !== 'waiting') outages++;
      last = phase;
    };
    const onStored = ({ length }: readonly unknown[]) => {
      progress.stored += length;
    };
    const importing = importTitles(titles, onPhase, onStored).finally(() => {
      progress.isDone = true;
    });
    for (let kill = 1; kill <= KILLS; kill++) {
      const at = ((kill - random.next()) * BOOKS) / KILLS;
      while (progress.stored < at && !progress.isDone) await sleep(random.next() * 5);
      await trial.kill();
      await trial.start();
    }
    assert.deepEqual(await importing, { kind: 'done' });
    const found: string[] = [];
    for await (const { title } of client.list({ limit: 1_000 })) found.push(title);
    assert.deepEqual(found, expected, `round ${round}`);
    report(`${round} rounds, ${found.length} books, each stored once`);
  }
  return {
    kills: KILLS * rounds,
    books: expected.length,
    'times the import waited for the service': outages,
  };

  async function importTitles(
    titles: readonly string[],
    onPhase: (phase: Phase) => void,
    onStored: (books: readonly unknown[]) => void,
  ) {
    const lines = titles.map((title, n) => `${title},,${n}`);
    const file = await openRowFile(new File(['title,author,year\n', lines.join('\n')], 'books.csv'), 'csv');
    return await importBatches(
      batchesOf(readBooks(file, MAPPING), 0),
      { client, sleep, keyPrefix: crypto.randomUUID() },
      { onPhase, onStored },
      new AbortController().signal,
    );
  }
}
