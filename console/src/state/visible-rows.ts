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
 * @param top the upper edge of the first row in the viewport, in pixels; negative when the list is scrolled
 * @param height of the viewport, in pixels
 */
export function visibleRows(top: number, height: number, rowHeight: number, count: number): RowRange {
  const first = Math.floor(-top / rowHeight) - OVERSCAN_ROWS;
  const last = Math.ceil((height - top) / rowHeight) + OVERSCAN_ROWS;
  return { start: Math.min(Math.max(first, 0), count), end: Math.min(Math.max(last, 0), count) };
}

/** The height of the element of a list. Browsers have limits from 11 million pixels, on screens of three dots a pixel. */
const HEIGHT_MAX = 8_000_000;
/** So near to its ends, also a higher list scrolls exactly like its element. */
const END_HEIGHT = 100_000;

/**
 * The heights of a list and of its element, in pixels. Where the list is higher, it is scrolled by `scrolled + shift` when
 * the element is by `scrolled`.
 */
export class ListHeight {
  readonly element: number;
  /** The height of the list that the element lacks. */
  readonly excess: number;
  readonly #middle: number;

  /** @param viewport the height in which rows are visible */
  constructor(list: number, viewport: number) {
    this.element = Math.min(list, HEIGHT_MAX);
    this.excess = list - this.element;
    this.#middle = this.element - viewport - 2 * END_HEIGHT;
  }

  /** The shift with which the scroll bar shows the place in the list. */
  shiftAt(scrolled: number): number {
    return this.#share(scrolled, this.#middle);
  }

  /** How far the element is scrolled, with that shift, when the list is scrolled to `position`. */
  scrolledAt(position: number): number {
    return position - this.#share(position, this.#middle + this.excess);
  }

  #share(place: number, middle: number): number {
    if (this.excess === 0) return 0;
    return Math.round(this.excess * Math.min(Math.max((place - END_HEIGHT) / middle, 0), 1));
  }
}
