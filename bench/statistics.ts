/** The median, or undefined without values. */
export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((left, right) => left - right);
  const [low, high] = [
    sorted[Math.floor((sorted.length - 1) / 2)],
    sorted[Math.ceil((sorted.length - 1) / 2)],
  ];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}
