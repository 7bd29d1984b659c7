/** A call to a register; it took effect between start and end. */
export interface Operation {
  readonly kind: 'write' | 'read';
  /** Written or read. No value is written twice. */
  readonly value: number;
  readonly start: number;
  readonly end: number;
}

/**
 * Checks whether a history of one register is linearizable (P. B. Gibbons and E. Korach, "Testing Shared Memories", SIAM
 * Journal on Computing 26, 1997, section 4).
 *
 * @param initial the value before the first call, which is not written
 * @returns a description of the violation, or undefined
 */
export function findViolation(history: readonly Operation[], initial: number): string | undefined {
  const beginning: Operation = { kind: 'write', value: initial, start: -Infinity, end: -Infinity };
  const byValue = Map.groupBy([beginning, ...history], ({ value }) => value);
  const zones: Zone[] = [];
  for (const [value, calls] of byValue) {
    const write = calls.find(({ kind }) => kind === 'write');
    if (!write) return `${value} was read, but never written`;
    if (calls.some(({ end }) => end < write.start)) return `${value} was read before it was written`;
    const earliestEnd = Math.min(...calls.map(({ end }) => end));
    const latestStart = Math.max(...calls.map(({ start }) => start));
    const isHeld = earliestEnd < latestStart;
    const [from, to] = isHeld ? [earliestEnd, latestStart] : [latestStart, earliestEnd];
    zones.push({ value, isHeld, from, to });
  }
  for (const zone of zones.filter(({ isHeld }) => isHeld)) {
    for (const other of zones) {
      if (other === zone) continue;
      const isClash = other.isHeld
        ? zone.from < other.to && other.from < zone.to
        : zone.from < other.from && other.to < zone.to;
      if (isClash) return `${other.value} is neither before nor after all calls of ${zone.value}`;
    }
  }
  return undefined;
}

/** The time of a value: the register has it throughout if it is held, otherwise at some point. */
interface Zone {
  readonly value: number;
  readonly isHeld: boolean;
  readonly from: number;
  readonly to: number;
}
