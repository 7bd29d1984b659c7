import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listModules, readText } from './files.ts';

/** The names in `{@link …}` that are in no code of the file: editors find those that it declares or imports. */
function brokenLinks(source: string): string[] {
  const code = source.replace(/\/\*.*?\*\/|\/\/.*?$/gms, '');
  const names = [...source.matchAll(/\{@link ([\w.]+)/g)].flatMap(([, name = '']) => name.split('.'));
  return names.filter((name) => !new RegExp(`\\b${name}\\b`).test(code));
}

describe('A {@link} of a comment', () => {
  test('names something that the file declares or imports', () => {
    const broken = listModules().flatMap((path) => brokenLinks(readText(path)).map((name) => [path, name]));
    assert.deepEqual(broken, []);
  });

  test('to another name is detected', () => {
    const source = '/** {@link here} {@link there} */\nexport const here = 1; // there';
    assert.deepEqual(brokenLinks(source), ['there']);
  });
});
