import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import { listConsoleSources } from './files.ts';

test('Modules of the web console have unique names', () => {
  const names = Map.groupBy(listConsoleSources(), (path) => basename(path).replace(/\.tsx?$/, ''));
  assert.deepEqual(
    [...names.values()].filter((paths) => paths.length > 1),
    [],
  );
});
