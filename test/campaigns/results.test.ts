import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { describe as describeFigures, replaceRow } from '../../campaigns/results.ts';

const DOCUMENT = `before

<!-- Each full run of a campaign replaces its row. -->

| campaign | engine | what |
|---|---|---|
| \`b\` | SQLite | old |
| \`b\` | PostgreSQL | other |

<!-- The end of the rows. -->

after
`;

describe('The table of full runs', () => {
  test('has the new row in place of the last one with the same campaign and engine', () => {
    const expected = DOCUMENT.replace('| old |', '| new \\| row |');
    assert.equal(replaceRow(DOCUMENT, ['`b`', 'SQLite', 'new | row']), expected);
  });

  test('has rows in the order of the campaigns, SQLite first', () => {
    const added = replaceRow(DOCUMENT, ['`a`', 'PostgreSQL', 'new']);
    assert.match(added, /---\|\n\| `a` \| PostgreSQL \| new \|\n\| `b` \| SQLite/);
    assert.match(replaceRow(added, ['`a`', 'SQLite', 'newer']), /newer \|\n\| `a` \| PostgreSQL/);
  });

  test('cannot be written without its marks', () => {
    assert.throws(() => replaceRow('no table', ['a', 'b']), /has no line/);
  });

  test('has the figures that a campaign names, in one cell', () => {
    const figures = { kills: 1_400, 'slowest, ms': 3.052, first: 'a', other: 1 };
    assert.equal(
      describeFigures(figures, ['first', 'missing', 'kills', 'slowest, ms']),
      'first: a; kills: 1,400; slowest, ms: 3.1',
    );
  });
});
