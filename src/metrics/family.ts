/** A snapshot of a metric with all its series (Prometheus, "Data model"). */
export interface Family {
  /** With its base unit, and `_total` where it counts (Prometheus, "Metric and label naming"). */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Values by name and labels, such as `books_total{kind="read"}`. */
  readonly samples: Readonly<Record<string, number>>;
}

export type Labels = Readonly<Record<string, string>>;

type Series = number | readonly (readonly [Labels, number])[];

export function counter(name: string, help: string, series: Series): Family {
  return { name, help, type: 'counter', samples: samplesOf(name, series) };
}

export function gauge(name: string, help: string, series: Series): Family {
  return { name, help, type: 'gauge', samples: samplesOf(name, series) };
}

function samplesOf(name: string, series: Series): Record<string, number> {
  if (typeof series === 'number') return { [name]: series };
  return Object.fromEntries(series.map(([labels, value]) => [sampleName(name, labels), value]));
}

export function sampleName(name: string, labels: Labels): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escapeValue(value)}"`);
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`;
}

function escapeValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

/** Renders metrics in the text format of Prometheus ("Exposition formats", version 0.0.4). */
export function exposition(families: readonly Family[]): string {
  return families.map(linesOf).join('');
}

function linesOf({ name, help, type, samples }: Family): string {
  const values = Object.entries(samples).map(([sample, value]) => `${sample} ${value}\n`);
  return values.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${values.join('')}`;
}
