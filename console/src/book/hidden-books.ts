import type { Book } from '../../../src/client/index.ts';

/** The ids of books that are deleted, or will be, and are not shown. */
export const hiddenIds = new Set<number>();

/** Those of them that the service still has and has counted, with the rows before which they were loaded. */
export const countedHidden = new Map<number, number>();

/** Whether a book has a pending deletion. */
export function isHidden({ id }: Book): boolean {
  return hiddenIds.has(id);
}

/** The position of a row among the books of the service. */
export function offsetOf(row: number): number {
  return row + [...countedHidden.values()].filter((hiddenRow) => hiddenRow <= row).length;
}
