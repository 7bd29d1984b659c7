import { test } from 'node:test';
import { overload } from '../../campaigns/overload/campaign.ts';

test('far too many requests are all answered, with 2xx or 503 and Retry-After, and then all is well', async () => {
  await overload({
    engine: 'SQLite',
    kinds: ['searches', 'all kinds'],
    seconds: 0.5,
    connections: 500,
    isMeasured: false,
    report: () => {},
  });
});
