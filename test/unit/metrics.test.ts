import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { counter, exposition, gauge } from '../../src/metrics/family.ts';
import { Histogram, histogram } from '../../src/metrics/histogram.ts';
import { readExposition, sumOf } from '../../testkit/exposition.ts';

/** A histogram of these values. */
function histogramOf(...values: number[]): Histogram {
  const made = new Histogram([0.1, 1]);
  for (const value of values) made.observe(value);
  return made;
}

describe('The text format', () => {
  test('is that of Prometheus', () => {
    const families = [
      counter('books_total', 'Books.', [
        [{ kind: 'read' }, 3],
        [{ kind: 'a "b"\\\n' }, 0],
      ]),
      gauge('waiting', 'Who waits.', [[{}, 0.5]]),
      histogram('wait_seconds', 'How long.', [[{ who: 'me' }, histogramOf(0.05, 0.1, 0.5, 7)]]),
      gauge('nothing', 'There is none.', []),
    ];
    const text = exposition(families);
    assert.equal(
      text,
      `# HELP books_total Books.
# TYPE books_total counter
books_total{kind="read"} 3
books_total{kind="a \\"b\\"\\\\\\n"} 0
# HELP waiting Who waits.
# TYPE waiting gauge
waiting 0.5
# HELP wait_seconds How long.
# TYPE wait_seconds histogram
wait_seconds_bucket{who="me",le="0.1"} 2
wait_seconds_bucket{who="me",le="1"} 3
wait_seconds_bucket{who="me",le="+Inf"} 4
wait_seconds_sum{who="me"} 7.65
wait_seconds_count{who="me"} 4
`,
    );
    assert.equal(sumOf(readExposition(text), 'books_total', { kind: 'a "b"\\\n' }), 0);
  });
});

describe('The reader of the tests', () => {
  const SOUND = '# HELP a_total Text.\n# TYPE a_total counter\na_total{b="c"} 1\n';
  const HISTOGRAM = `# HELP h Text.\n# TYPE h histogram\nh_bucket{le="1"} 1\nh_bucket{le="+Inf"} 2\nh_sum 3\nh_count 2\n`;
  for (const [what, text] of [
    ['a last line without a line break', SOUND.slice(0, -1)],
    ['a metric without TYPE', SOUND.replace(/# TYPE.*\n/, '')],
    ['a metric without HELP', SOUND.replace(/# HELP.*\n/, '')],
    ['a metric without a sample', SOUND.replace(/\na_total.*/, '')],
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
