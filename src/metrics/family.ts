/**
 * A metric with all its series, as it stands at one moment (Prometheus, "Data model"): plain data, which travels between
 * processes as it is.
 */
export interface Family {
  /** With its base unit, and `_total` where it counts (Prometheus, "Metric and label naming"). */
  readonly name: string;
  /** What it tells, in a few words. */
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** What those of several processes come to; by default their sum. */
  readonly together?: 'min' | 'max';
  /** The values by their names with labels, such as `books_total{kind="read"}`. */
  readonly samples: Readonly<Record<string, number>>;
}

/** Label names and their values. */
export type Labels = Readonly<Record<string, string>>;

/** The name of a sample in the text format: that of its metric and its labels. */
export function sampleName(name: string, labels: Labels = {}): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escaped(value)}"`);
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`;
}

/** A metric that counts. Its series come as labels and a value. */
export function counter(name: string, help: string, series: Iterable<readonly [Labels, number]>): Family {
  return { name, help, type: 'counter', samples: samplesOf(name, series) };
}

/** A metric that goes up and down. */
export function gauge(name: string, help: string, series: Iterable<readonly [Labels, number]>): Family {
  return { name, help, type: 'gauge', samples: samplesOf(name, series) };
}

function samplesOf(name: string, series: Iterable<readonly [Labels, number]>): Record<string, number> {
  return Object.fromEntries([...series].map(([labels, value]) => [sampleName(name, labels), value]));
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
