import { test } from 'node:test';
import { campaign } from '../../campaigns/logins/campaign.ts';

test('10,000 wrong passwords from a few addresses block only these addresses; valid logins never count', async () => {
  await campaign.run({ engine: 'SQLite', rounds: 2_000, seed: 0, report: () => {} });
});
