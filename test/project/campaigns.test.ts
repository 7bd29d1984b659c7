import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadAll } from '../../campaigns/list.ts';
import { readText } from './files.ts';
import { rowsUnder } from './markdown.ts';

test('docs/testing.md has a row for each campaign and engine, with what it does, its length, figures, date and commit', async () => {
  const rows = rowsUnder(readText('docs/testing.md'), 'campaign', 'engine');
  const expected = (await loadAll()).flatMap(({ name, campaign }) =>
    campaign.engines.map((engine) => [
      `\`${name}\``,
      engine,
      engine === campaign.engines[0] ? campaign.summary : '',
    ]),
  );
  assert.deepEqual(
    rows.map((row) => row.slice(0, 3)),
    expected,
  );
  for (const [name, engine, , seconds, figures, run] of rows) {
    assert.ok(Number(seconds?.replace(',', '')) > 0 && figures, `${name} ${engine}`);
    assert.match(run ?? '', /^\d{4}-\d{2}-\d{2}, \S/);
  }
});

test('each campaign has rounds for each engine, in full and in its short form', async () => {
  for (const { name, campaign } of await loadAll()) {
    const lengths = [campaign.full, campaign.short].map(({ rounds }) => rounds.length);
    assert.deepEqual(lengths, [campaign.engines.length, campaign.engines.length], name);
  }
});
