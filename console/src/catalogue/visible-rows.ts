/** A part of a list: the index of its first row, and of the one behind its last. */
export interface Window {
  readonly start: number;
  readonly end: number;
}

/** How many rows are drawn above and below what can be seen, so that quick scrolling does not show gaps. */
const OVERSCAN_ROWS = 12;

/**
 * The rows that are to be drawn. All are of the same height, so a division says which.
 *
 * @param top where the list begins, in pixels below the upper edge of what can be seen: negative once it is scrolled
 * @param height how high that is, in pixels
 * @param rowHeight how high a row is, in pixels
 * @param count how many rows the list has
 */
export function windowOf(top: number, height: number, rowHeight: number, count: number): Window {
  const first = Math.floor(-top / rowHeight) - OVERSCAN_ROWS;
  const last = Math.ceil((height - top) / rowHeight) + OVERSCAN_ROWS;
  return { start: Math.min(Math.max(first, 0), count), end: Math.min(Math.max(last, 0), count) };
}
