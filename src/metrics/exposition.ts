import type { Family } from './family.ts';

/** The media type of {@link exposition}. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Metrics in Prometheus' text format ("Exposition formats", version 0.0.4). */
export function exposition(families: readonly Family[]): string {
  return families.map(lines).join('');
}

function lines({ name, help, type, samples }: Family): string {
  const values = Object.entries(samples).map(([sample, value]) => `${sample} ${value}\n`);
  return values.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${values.join('')}`;
}
