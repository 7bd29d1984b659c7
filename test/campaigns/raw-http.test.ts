import { test } from 'node:test';
import { campaign } from '../../campaigns/raw-http/campaign.ts';

test('every pipelined request gets its own response; malformed HTTP gets one error response, and the connection is closed', async () => {
  const seed = Date.now() % 2 ** 31;
  await campaign.run({ engine: 'SQLite', rounds: 160, seed, report: () => {} });
});
