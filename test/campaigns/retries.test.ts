import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runShort } from '../../campaigns/campaign.ts';
import { campaign } from '../../campaigns/retries/campaign.ts';

for (const engine of campaign.engines) {
  test(`a client that retries creates with an Idempotency-Key while the service is killed creates every book once, on ${engine}`, async () => {
    const { retries } = await runShort(campaign, engine);
    assert.ok(Number(retries) > 0);
  });
}
