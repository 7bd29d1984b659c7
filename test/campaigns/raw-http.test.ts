import { test } from 'node:test';
import { campaign } from '../../campaigns/raw-http/campaign.ts';

test('every pipelined request has its own answer, and malformed HTTP one refusal and the end', async () => {
  const seed = Date.now() % 2 ** 31;
  await campaign.run({ engine: 'SQLite', rounds: 500, seed, report: () => {} });
});
