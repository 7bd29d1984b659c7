import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listConsoleSources, listSources, readText } from './files.ts';

/** Longer files have more than one subject. */
const LINES_MAX = 230;

for (const path of [...listSources(), ...listConsoleSources()]) {
  test(`${path} has at most ${LINES_MAX} lines`, () => {
    const lines = readText(path).trimEnd().split('\n').length;
    assert.ok(lines <= LINES_MAX, `${lines} lines`);
  });
}
