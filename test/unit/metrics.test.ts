import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readExposition } from '../../testkit/exposition.ts';

describe('The reader of the tests', () => {
  const SOUND = '# HELP a_total Text.\n# TYPE a_total counter\na_total{b="c"} 1\n';
  const HISTOGRAM = `# HELP h Text.\n# TYPE h histogram\nh_bucket{le="1"} 1\nh_bucket{le="+Inf"} 2\nh_sum 3\nh_count 2\n`;
  for (const [what, text] of [
    ['a last line without a line break', SOUND.slice(0, -1)],
    ['a metric without TYPE', SOUND.replace(/# TYPE.*\n/, '')],
    ['a metric without HELP', SOUND.replace(/# HELP.*\n/, '')],
    ['a metric twice', SOUND + SOUND],
    ['a series twice', `${SOUND}a_total{b="c"} 2\n`],
    ['a sample of another metric', `${SOUND}c_total 2\n`],
    ['a negative counter', SOUND.replace(' 1', ' -1')],
    ['a counter with the name of a gauge', SOUND.replaceAll('_total', '')],
    ['a value that is not a number', SOUND.replace(' 1', ' one')],
    ['a label without quotes', SOUND.replaceAll('"', '')],
    ['a bucket smaller than the one before', HISTOGRAM.replace('} 1\n', '} 3\n')],
    ['a histogram without its last bucket', HISTOGRAM.replace(/h_bucket.*Inf.*\n/, '')],
    ['a count that differs from the last bucket', HISTOGRAM.replace('count 2', 'count 3')],
  ] as const) {
    test(`rejects ${what}`, () => {
      readExposition(SOUND + HISTOGRAM);
      assert.throws(() => readExposition(text));
    });
  }
});
