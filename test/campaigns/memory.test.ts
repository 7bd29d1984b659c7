import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyLoad } from '../../campaigns/memory/campaign.ts';
import { loads } from '../../campaigns/memory/loads.ts';

// Files in memory would count as memory of the service.
process.env.TMPDIR = '/var/tmp';

for (const [engine, name] of [
  ['SQLite', 'POST /books of 15 MiB, mixed'],
  ['PostgreSQL', 'POST /book of 1 MiB, mixed'],
] as const) {
  test(`${name}: requests beyond 512 MiB of memory succeed or get 503, on ${engine}`, async () => {
    const load = loads()[name];
    assert.ok(load);
    const { statuses } = await applyLoad(engine, load, 1);
    assert.ok((statuses[503] ?? 0) > 0, 'the limit was not reached');
  });
}
