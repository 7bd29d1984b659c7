import { test } from 'node:test';
import { campaign } from '../../campaigns/logins/campaign.ts';

test('10,000 wrong passwords from a few addresses stop these, and nobody else; right logins never count', async () => {
  await campaign.run({ engine: 'SQLite', rounds: 2_000, seed: 0, report: () => {} });
});
