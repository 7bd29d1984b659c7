import { test } from 'node:test';
import { overload } from '../../campaigns/overload/campaign.ts';

test('under overload every request gets 2xx, or 503 with Retry-After; after it no request gets 503', async () => {
  await overload({
    engine: 'SQLite',
    kinds: ['searches', 'all kinds'],
    seconds: 0.2,
    connections: 300,
    isMeasured: false,
    report: () => {},
  });
});
