import assert from 'node:assert/strict';
import { basename, dirname } from 'node:path';
import { describe, test } from 'node:test';
import { listConsoleSources } from './files.ts';

const FILES_MAX = 12;

describe('The sources of the web console', () => {
  const paths = listConsoleSources();

  test('are at most 12 in a folder', () => {
    const folders = Map.groupBy(paths, (path) => dirname(path));
    const tooLarge = [...folders].filter(([, files]) => files.length > FILES_MAX).map(([folder]) => folder);
    assert.ok(folders.size > 1);
    assert.deepEqual(tooLarge, []);
  });

  test('have names of their own', () => {
    const names = Map.groupBy(paths, (path) => basename(path).replace(/\.tsx?$/, ''));
    assert.deepEqual(
      [...names].filter(([, files]) => files.length > 1),
      [],
    );
  });
});
