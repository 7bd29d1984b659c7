/**
 * A snapshot of a metric with all its series (Prometheus, "Data model"), as plain data that can be sent to other processes.
 */
export interface Family {
  /** With its base unit, and `_total` where it counts (Prometheus, "Metric and label naming"). */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** How the values of several processes are combined; by default they are added. */
  readonly aggregation?: 'min' | 'max';
  /** Values by name and labels, such as `books_total{kind="read"}`. */
  readonly samples: Readonly<Record<string, number>>;
}

/** Label names and their values. */
export type Labels = Readonly<Record<string, string>>;

/** The name of a sample in the text format: that of its metric and its labels. */
export function sampleName(name: string, labels: Labels = {}): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escaped(value)}"`);
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`;
}

/** A metric that only increases. */
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
