const DAY_MS = 24 * 3_600_000;

/** The days from one date to another in the calendar of the reader, some of which have 23 or 25 hours; below 0 back in time. */
export function daysBetween(from: Date, to: Date): number {
  return dayOf(to) - dayOf(from);
}

function dayOf(date: Date): number {
  return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / DAY_MS;
}
