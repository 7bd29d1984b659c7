import type { Family } from './family.ts';

/** Combines the metrics of several processes; see {@link Family.aggregation}. */
export function merge(processes: readonly (readonly Family[])[]): Family[] {
  const merged = new Map<string, Family>();
  for (const family of processes.flat()) {
    const others = merged.get(family.name);
    merged.set(family.name, others ? combine(others, family) : family);
  }
  return [...merged.values()];
}

/** The metrics that remain valid when their process has exited. */
export function withoutGauges(families: readonly Family[]): Family[] {
  return families.filter(({ type }) => type !== 'gauge');
}

function combine(one: Family, other: Family): Family {
  const samples = { ...one.samples };
  for (const [name, value] of Object.entries(other.samples)) {
    const present = samples[name];
    samples[name] = present === undefined ? value : aggregate(present, value, one.aggregation ?? 'sum');
  }
  return { ...one, samples };
}

function aggregate(one: number, other: number, how: 'sum' | 'min' | 'max'): number {
  if (how === 'min') return Math.min(one, other);
  return how === 'max' ? Math.max(one, other) : one + other;
}
