import type { ReadonlySignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { App } from '../../state/app.ts';
import { rowArea } from './list-scroll.ts';

/** A book, and the row in which it was drawn. */
interface Place {
  readonly id: number;
  readonly row: number;
}

interface KeptTable {
  readonly app: App;
  /** The id of the book of a row; 0 for the row of a new book. */
  readonly idAt: (row: number) => number | undefined;
  readonly newRow: () => number | undefined;
  readonly body: { readonly current: HTMLElement | null };
  readonly rowHeight: ReadonlySignal<number>;
  readonly focusActive: () => void;
  /** Focuses the active cell, and scrolls to it. */
  readonly showActive: () => void;
  readonly scrollBy: (pixels: number) => void;
}

/** How far a book is searched from its former row. */
const DISTANCE_MAX = 1_000;

/**
 * Keeps what is in view, and the focus, on the same books when others before them come or go.
 *
 * @returns a function to call after each change and each scroll, with the height of the list above the window
 */
export function useKeptPlace(table: KeptTable): (hiddenHeight: number) => void {
  const { app, idAt, body, rowHeight, focusActive, showActive, scrollBy } = table;
  const { cursor } = app;
  const places = useRef<{
    query?: string;
    top?: Place | undefined;
    focus?: Place | undefined;
    /** Whether they are of the rows of the query before. */
    isFormer?: boolean | undefined;
  }>({});
  return (hiddenHeight) => {
    const query = app.address.query.peek();
    const { top, focus, isFormer } = places.current.query === query ? places.current : {};
    const scrolled = distanceOf(table, top);
    const moved = distanceOf(table, focus);
    places.current = { query, top: movedBy(scrolled, top), focus: movedBy(moved, focus), isFormer };
    if (scrolled !== 0) scrollBy(scrolled * rowHeight.peek());
    if (focus && moved !== 0) {
      const { upper, lower } = rowArea();
      const place = (focus.row + 1) * rowHeight.peek() - hiddenHeight;
      const wasInView = place > 0 && place <= lower - upper;
      cursor.shift(focus.row + moved - cursor.active.peek().row);
      // Others may add books before the row of a new one.
      const show = focus.id === 0 && wasInView ? showActive : focusActive;
      if (body.current?.contains(document.activeElement)) requestAnimationFrame(() => show());
    }
    const active = placeAt(idAt, cursor.active.peek().row);
    // The rows are those of another query, unless they are read anew: of them, only the book to which the user has gone is kept.
    if (app.list.isLoading.peek() && (!focus || isFormer)) {
      const isGone = !cursor.isAtStart && body.current?.contains(document.activeElement);
      places.current = { query, focus: isGone ? active : undefined, isFormer: true };
      return;
    }
    const topRow = Math.ceil(hiddenHeight / rowHeight.peek()) + scrolled;
    places.current = {
      query,
      top: hiddenHeight > 0 ? placeAt(idAt, topRow) : undefined,
      focus: active,
    };
  };
}

function movedBy(rows: number, place: Place | undefined): Place | undefined {
  return place && { ...place, row: place.row + rows };
}

type IdAt = KeptTable['idAt'];

function placeAt(idAt: IdAt, row: number): Place | undefined {
  const id = row < 0 ? undefined : idAt(row);
  return id === undefined ? undefined : { id, row };
}

/** The number of rows by which a book or the row of a new one has moved; 0 when the book is no longer near. */
function distanceOf({ idAt, newRow }: KeptTable, place: Place | undefined): number {
  if (!place) return 0;
  const { id, row } = place;
  // Any number of books may come before it at once.
  if (id === 0) return (newRow() ?? row) - row;
  for (let distance = 0; distance <= DISTANCE_MAX; distance++) {
    if (idAt(row + distance) === id) return distance;
    if (row >= distance && idAt(row - distance) === id) return -distance;
  }
  return 0;
}
