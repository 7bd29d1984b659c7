import { test } from 'node:test';
import { overload } from '../../campaigns/overload/campaign.ts';

test('under overload every request gets 2xx, or 503 with Retry-After, and afterwards latency is as before', async () => {
  await overload({
    engine: 'SQLite',
    kinds: ['searches', 'all kinds'],
    seconds: 0.5,
    connections: 500,
    isMeasured: false,
    report: () => {},
  });
});
