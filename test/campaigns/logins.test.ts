import { test } from 'node:test';
import { logIn } from '../../campaigns/logins/campaign.ts';

test('1,000 wrong passwords from a few addresses block only these addresses; valid logins never count', async () => {
  await logIn({ engine: 'SQLite', rounds: 400, seed: 0, report: () => {} }, 1_000);
});
