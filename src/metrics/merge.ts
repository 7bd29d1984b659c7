import type { Family } from './family.ts';

/** The metrics of several processes as those of one: what is counted adds up, and so do gauges that say nothing else. */
export function merge(processes: readonly (readonly Family[])[]): Family[] {
  const merged = new Map<string, Family>();
  for (const family of processes.flat()) {
    const others = merged.get(family.name);
    merged.set(family.name, others ? together(others, family) : family);
  }
  return [...merged.values()];
}

/** What remains of a process that has ended: what it counted. */
export function counted(families: readonly Family[]): Family[] {
  return families.filter(({ type }) => type !== 'gauge');
}

function together(one: Family, other: Family): Family {
  const samples = { ...one.samples };
  for (const [name, value] of Object.entries(other.samples)) {
    const present = samples[name];
    samples[name] = present === undefined ? value : combine(present, value, one.together ?? 'sum');
  }
  return { ...one, samples };
}

function combine(one: number, other: number, how: 'sum' | 'min' | 'max'): number {
  if (how === 'min') return Math.min(one, other);
  return how === 'max' ? Math.max(one, other) : one + other;
}
