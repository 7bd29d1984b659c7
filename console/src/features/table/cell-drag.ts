import { useEffect, useRef } from 'preact/hooks';
import type { App } from '../../state/app.ts';
import { type Position, TITLE } from '../../state/cursor.ts';
import { later } from '../later-code.ts';
import { rowArea } from './list-scroll.ts';

/** How often the range grows while the mouse is beyond the visible rows. */
const STEP_MS = 50;
/** How far beyond them it grows by one row more. */
const PIXELS_PER_ROW = 24;

interface DraggedTable {
  readonly app: App;
  readonly positionOf: (target: EventTarget | null) => Position | undefined;
  /** The row at a height of the window, also where none is drawn. */
  readonly rowAt: (y: number) => number;
  /** Moves to a cell, to which the range then reaches. */
  readonly extend: (row: number, column: number) => void;
}

/**
 * Makes a range of cells with the mouse, or fills the cells below one by its handle. While the mouse is above or below the visible rows,
 * the range grows, and the list scrolls. Esc cancels it.
 */
export function useCellDrag({ app, positionOf, rowAt, extend }: DraggedTable) {
  const { cursor, cells } = app;
  const hasMoved = useRef(false);
  const pressed = useRef(new AbortController());
  useEffect(() => () => pressed.current.abort(), []);

  function press(event: MouseEvent): void {
    const { target, shiftKey, ctrlKey, metaKey } = event;
    const position = positionOf(target);
    // With Shift, a click extends the range, and selects no text.
    if (shiftKey) event.preventDefault();
    hasMoved.current = false;
    if (!position || shiftKey || ctrlKey || metaKey) return;
    const isFill = (target as Element).matches('.fill-handle');
    if (isFill) cursor.goToCorner();
    else cursor.go(position);
    if (position.column >= TITLE && event.button === 0) start(event.clientY, isFill);
  }

  function start(y: number, isFill: boolean): void {
    const { active, anchor } = cursor;
    const { value: origin } = anchor;
    const { row: last, column: lastColumn } = active.value;
    let mouseY = y;
    let isCancelled = false;
    const reach = (row: number, column: number) => {
      const position = isFill ? { row: Math.max(last, row), column: lastColumn } : { row, column };
      if (cells.open.value || cursor.isAt(position)) return;
      hasMoved.current = true;
      getSelection()?.removeAllRanges();
      if (!isCancelled) extend(position.row, position.column);
    };
    const grow = () => {
      const beyond = beyondRows(mouseY);
      const rows = Math.sign(beyond) * (1 + Math.floor(Math.abs(beyond) / PIXELS_PER_ROW));
      if (beyond !== 0) reach(active.value.row + rows, active.value.column);
    };
    const move = (event: MouseEvent) => {
      const { clientX, clientY, buttons } = event;
      if (buttons !== 1) pressed.current.abort();
      mouseY = clientY;
      // In Firefox, the target is the pressed cell, as it clips its text.
      const { column } = positionOf(document.elementFromPoint(clientX, clientY)) ?? active.value;
      if (buttons === 1 && beyondRows(mouseY) === 0) reach(rowAt(mouseY), Math.max(TITLE, column));
      // Firefox selects texts afterwards.
      if (hasMoved.current) event.preventDefault();
    };
    const release = () => {
      pressed.current.abort();
      if (isFill && !isCancelled && active.value.row > last)
        void later.value?.fillDown(app, last - origin.row + 1);
    };
    const cancel = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      isCancelled = true;
      if (!hasMoved.current) return;
      event.stopPropagation();
      anchor.value = origin;
      extend(last, lastColumn);
    };
    pressed.current.abort();
    pressed.current = new AbortController();
    const { signal } = pressed.current;
    const timer = setInterval(grow, STEP_MS);
    signal.addEventListener('abort', () => clearInterval(timer));
    addEventListener('mousemove', move, { signal });
    addEventListener('mouseup', release, { signal });
    addEventListener('keydown', cancel, { signal, capture: true });
  }

  /** Whether a click ends a drag. A key that clicks does not. */
  const endsDrag = ({ detail }: MouseEvent) => detail > 0 && hasMoved.current;
  return { press, endsDrag };
}

/** By how many pixels a place of the window is below the visible rows or, negative, above them. */
function beyondRows(y: number): number {
  const { upper, lower } = rowArea();
  return Math.max(0, y - lower) + Math.min(0, y - upper);
}
