import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listModules, readText } from './files.ts';

/** The formatter does not wrap comments. They may be as long as the lines of the documents. */
const LENGTH_MAX = 140;

test(`Lines of comments have at most ${LENGTH_MAX} characters`, () => {
  const long = listModules().flatMap((path) =>
    readText(path)
      .split('\n')
      .flatMap((line, index) =>
        /^\s*(?:\/\/|\/\*|\*)/.test(line) && line.length > LENGTH_MAX ? [`${path}:${index + 1}`] : [],
      ),
  );
  assert.deepEqual(long, []);
});
