import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runShort } from '../../campaigns/campaign.ts';
import { campaign } from '../../campaigns/kill/campaign.ts';

for (const engine of campaign.engines) {
  test(`no acknowledged write is lost by SIGKILL, also during startup, on ${engine}`, async () => {
    const { acknowledged } = await runShort(campaign, engine);
    assert.ok(Number(acknowledged) >= 500);
  });
}
