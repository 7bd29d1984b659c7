import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLUSTER, findMissing, programs } from '../../campaigns/needs.ts';

test('What a campaign needs and is missing is named', async () => {
  const needs = [...programs(['sh', 'a-program-that-nobody-has']), CLUSTER];
  assert.deepEqual(await findMissing(needs), ['a-program-that-nobody-has', CLUSTER.name]);
  assert.deepEqual(await findMissing([CLUSTER], 'postgres://localhost'), []);
});
