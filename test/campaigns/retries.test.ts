import assert from 'node:assert/strict';
import { test } from 'node:test';
import { campaign } from '../../campaigns/retries/campaign.ts';

for (const engine of campaign.engines) {
  test(`a client that retries creates with an Idempotency-Key while the service is killed creates every book once, on ${engine}`, async () => {
    const seed = Date.now() % 1_000_000;
    const figures = await campaign.run({ engine, rounds: 1, seed, report: () => {} });
    assert.ok(Number(figures.retries) > 0);
  });
}
