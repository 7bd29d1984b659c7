import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { anchorOf, codeIn, codeOf, headingsOf, linksOf, rowsUnder, tablesOf } from './markdown.ts';

const DOCUMENT = `# The title

Text with \`code\`, a [link](README.md#start) and \`[no](link)\`.

\`\`\`sh
# no heading, \`no code\`, [no](link)
| no | table |
|---|---|
\`\`\`

## What counts, and why

| name | meaning |
|:---|---|
| \`a\` | one \\| two |
| b | |

| name | meaning |
|---|---|
| c | \`three\` |`;

describe('The Markdown reader', () => {
  test('finds tables', () => {
    const head = ['name', 'meaning'];
    const [first, second] = [
      [
        ['`a`', 'one | two'],
        ['b', ''],
      ],
      [['c', '`three`']],
    ];
    assert.deepEqual(tablesOf(DOCUMENT), [
      { head, rows: first },
      { head, rows: second },
    ]);
    assert.deepEqual(rowsUnder(DOCUMENT, 'name'), [...first, ...second]);
    assert.deepEqual(rowsUnder(DOCUMENT, 'meaning'), []);
  });

  test('finds code, links and headings outside code blocks', () => {
    assert.deepEqual(codeOf(DOCUMENT), ['code', '[no](link)', 'a', 'three']);
    assert.deepEqual(linksOf(DOCUMENT), ['README.md#start']);
    assert.deepEqual(headingsOf(DOCUMENT), ['The title', 'What counts, and why']);
  });

  test('distinguishes cells that are code from cells with code', () => {
    assert.equal(codeIn('`a b`'), 'a b');
    assert.equal(codeIn('the `a`'), undefined);
    assert.equal(codeIn('`a` or `b`'), undefined);
  });

  test('makes the anchors of headings', () => {
    assert.equal(anchorOf('What counts, and why'), '#what-counts-and-why');
    assert.equal(anchorOf('Is it the contract?'), '#is-it-the-contract');
  });
});
