/** A range of rows; `end` is exclusive. */
export interface RowRange {
  readonly start: number;
  readonly end: number;
}

/** The rows drawn above and below the visible ones, so that fast scrolling shows no gaps. */
const OVERSCAN_ROWS = 12;

/**
 * The rows to draw; all have the same height.
 *
 * @param top the upper edge of the list in the viewport, in pixels; negative when it is scrolled
 * @param height of the viewport, in pixels
 */
export function visibleRows(top: number, height: number, rowHeight: number, count: number): RowRange {
  const first = Math.floor(-top / rowHeight) - OVERSCAN_ROWS;
  const last = Math.ceil((height - top) / rowHeight) + OVERSCAN_ROWS;
  return { start: Math.min(Math.max(first, 0), count), end: Math.min(Math.max(last, 0), count) };
}
