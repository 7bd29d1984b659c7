import assert from 'node:assert/strict';

/** A metric that was read, with its samples in order. */
export interface Metric {
  readonly type: string;
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * Reads the text format of Prometheus (version 0.0.4), and asserts the rules of strict parsers and `promtool check metrics`:
 * each metric occurs once, with HELP and TYPE, and has a name for its type; series are unique; histograms are consistent.
 */
export function readExposition(text: string): Map<string, Metric> {
  const metrics = new Map<string, { readonly type: string; readonly samples: Sample[] }>();
  assert.ok(text.endsWith('\n'), 'the last line has no line break');
  const lines = text.split('\n').filter((line) => line !== '');
  let name = '';
  for (const [index, line] of lines.entries()) {
    const [, helped] = /^# HELP ([a-z_][a-z0-9_]*) (?=\S)[^\\]*$/.exec(line) ?? [];
    const [, typed, type = ''] = /^# TYPE ([a-z_][a-z0-9_]*) (counter|gauge|histogram)$/.exec(line) ?? [];
    if (helped !== undefined) {
      assert.ok(!metrics.has(helped), `${helped} occurs twice`);
      assert.ok(lines[index + 1]?.startsWith(`# TYPE ${helped} `), `${helped} has no TYPE`);
    } else if (typed !== undefined) {
      assert.ok(lines[index - 1]?.startsWith(`# HELP ${typed} `), `${typed} has no HELP`);
      name = typed;
      metrics.set(name, { type, samples: [] });
    } else {
      const sample = readSample(line);
      const { type: of = '', samples } = metrics.get(name) ?? {};
      const suffix = sample.name.slice(name.length);
      assert.ok(sample.name.startsWith(name), `${line} follows the TYPE of ${name}`);
      assert.match(suffix, of === 'histogram' ? /^_(bucket|sum|count)$/ : /^$/);
      samples?.push(sample);
    }
  }
  for (const [metric, { type, samples }] of metrics) assertValid(metric, type, samples);
  return metrics;
}

/** The sum of the samples that have all these labels. */
export function sumOf(
  metrics: ReadonlyMap<string, Metric>,
  sampleName: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const samples = [...metrics.values()].flatMap((metric) => metric.samples);
  return samples
    .filter((sample) => sample.name === sampleName)
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0);
}

function readSample(line: string): Sample {
  const [, name = '', list = '', value = ''] =
    /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (-?[0-9.e+-]+|[+-]Inf|NaN)$/.exec(line) ?? [];
  assert.ok(name, `not a sample: ${line}`);
  const labels: Record<string, string> = {};
  for (let rest = list; rest !== ''; ) {
    const [pair, label = '', text = ''] =
      /^([a-z_][a-z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,(?=.)|$)/.exec(rest) ?? [];
    assert.ok(pair && !(label in labels), `not labels: ${line}`);
    labels[label] = text.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
    rest = rest.slice(pair.length);
  }
  const number = Number(value.replace('Inf', 'Infinity'));
  assert.ok(value === 'NaN' || !Number.isNaN(number), `not a number: ${line}`);
  return { name, labels, value: number };
}

function assertValid(name: string, type: string, samples: readonly Sample[]): void {
  const series = samples.map(
    ({ name: sample, labels }) => `${sample} ${Object.entries(labels).map(String).toSorted().join()}`,
  );
  assert.equal(new Set(series).size, series.length, `${name} has a series twice`);
  assert.equal(name.endsWith('_total'), type === 'counter', `${name} is a ${type}`);
  assert.doesNotMatch(name, /_(ms|milliseconds|minutes|kilobytes|percent)\b/);
  if (type !== 'gauge') assert.ok(samples.every(({ value }) => value >= 0));
  if (type === 'histogram') assertHistogram(name, samples);
}

/** Asserts that buckets are cumulative, ordered by bound, and followed by their sum and count. */
function assertHistogram(name: string, samples: readonly Sample[]): void {
  let [bound, count] = [Number.NEGATIVE_INFINITY, 0];
  for (const { name: sample, labels, value } of samples) {
    if (sample === `${name}_bucket`) {
      const le = Number(labels.le?.replace('Inf', 'Infinity'));
      assert.ok(le > bound && value >= count, `the buckets of ${name} are out of order`);
      [bound, count] = [le, value];
    } else {
      assert.equal(bound, Number.POSITIVE_INFINITY, `${name} lacks its last bucket`);
      if (sample === `${name}_count`) {
        assert.equal(value, count);
        [bound, count] = [Number.NEGATIVE_INFINITY, 0];
      }
    }
  }
}
