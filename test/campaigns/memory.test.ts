import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runShort } from '../../campaigns/campaign.ts';
import { campaign } from '../../campaigns/memory/campaign.ts';

// Files in memory would count as memory of the service.
process.env.TMPDIR = '/var/tmp';

for (const engine of campaign.engines) {
  test(`requests beyond 512 MiB of memory succeed or get 503, on ${engine}`, async () => {
    const { 'status 503': rejected } = await runShort(campaign, engine);
    assert.ok(Number(rejected) > 0, 'the limit was not reached');
  });
}
