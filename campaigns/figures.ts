/** Adds to a count, which is 0 at first. */
export function add(counts: Record<string, number>, name: string, count = 1): void {
  counts[name] = (counts[name] ?? 0) + count;
}

/** Raises a maximum, which is 0 at first. */
export function raise(maxima: Record<string, number>, name: string, value: number): void {
  maxima[name] = Math.max(maxima[name] ?? 0, value);
}
