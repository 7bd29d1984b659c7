/** Adds to a count, which is 0 at first. */
export function add(counts: Record<string, number>, name: string, count = 1): void {
  counts[name] = (counts[name] ?? 0) + count;
}

/** Raises a maximum, which is 0 at first. */
export function raise(maxima: Record<string, number>, name: string, value: number): void {
  maxima[name] = Math.max(maxima[name] ?? 0, value);
}

/** The value that 99 of 100 are below or equal to; NaN without values. */
export function percentile99(values: readonly number[]): number {
  const ascending = values.toSorted((one, other) => one - other);
  return ascending[Math.floor(ascending.length * 0.99)] ?? Number.NaN;
}
