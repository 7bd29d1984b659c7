import { untracked, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { FIELDS } from '../../../src/formats/row.ts';
import { isNarrow } from '../chart/chart-toggle.tsx';
import { targetRow } from '../go-to/go-to.tsx';
import { texts } from '../language/texts.ts';
import { queryOf, show, view } from '../page/address.ts';
import { isSelected, setSelected } from '../selection/selection.ts';
import { deleteSelectedOr, selectRange } from '../selection/selection-panel.tsx';
import { bookAt, isLoading, loadError, loadRows, revision, rowCount } from './catalogue.ts';
import { closeCell, editCell, neighbour, openCell, saveCell } from './cell-edit.ts';
import { CELL_MOVES, ROW_MOVES, rowArea } from './cell-moves.ts';
import { widthProperties } from './column-width.tsx';
import { useKeptPlace } from './kept-place.ts';
import { useListScroll } from './list-scroll.ts';
import { CELLS, TableHead, TableRow } from './table-row.tsx';
import { type RowRange, visibleRows } from './visible-rows.ts';

/** A cell of the table; row -1 is the head. */
interface Position {
  readonly row: number;
  readonly column: number;
}

const START: Position = { row: 0, column: CELLS.indexOf('title') };

/**
 * The table of books. Only the visible rows are in the document. One cell can be focused with Tab, the others with arrows
 * (the grid pattern of the ARIA Authoring Practices Guide).
 */
export function Table() {
  const grid = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const drawn = useSignal<RowRange>({ start: 0, end: 40 });
  const active = useSignal(START);
  /** The row at which Shift starts a range. */
  const anchor = useRef(0);
  const count = useComputed(rowCount);
  const scroll = useListScroll(grid, body, count, draw);
  const { rowHeight } = scroll;
  const keepPlace = useKeptPlace({ body, rowHeight, active, anchor, focusActive, scrollBy: scroll.scrollBy });

  function draw(): void {
    const top = scroll.top();
    const { start, end } = visibleRows(top, innerHeight, rowHeight.value, count.value);
    if (start !== drawn.value.start || end !== drawn.value.end) drawn.value = { start, end };
    loadRows(start, end);
    keepPlace(rowArea().upper - top);
  }

  useSignalEffect(() => {
    void [revision.value, isLoading.value];
    const { row, column } = active.value;
    if (row >= count.value) active.value = { row: Math.max(0, count.value - 1), column };
    draw();
  });

  useSignalEffect(() => {
    const { value: row } = targetRow;
    targetRow.value = undefined;
    if (row !== undefined) untracked(() => move(row, active.value.column, true));
  });

  // A new query starts at its first row.
  const query = useComputed(() => JSON.stringify(queryOf(view.value)));
  useEffect(() => {
    active.value = START;
    anchor.current = 0;
    const top = grid.current?.getBoundingClientRect().top ?? 0;
    if (top < 0) scrollBy(0, top);
    scroll.reset();
  }, [query.value]);

  function move(to: number, column: number, isFirst = false): void {
    const first = grid.current?.querySelector<HTMLElement>('.head')?.offsetHeight ? -1 : 0;
    const row = Math.min(Math.max(to, first), count.value - 1);
    active.value = { row, column };
    scroll.show(Math.max(row, 0), isFirst);
    draw();
    focusActive(); // The next key may come before the next frame, in which new rows and editors are there.
    requestAnimationFrame(() => focusActive());
  }

  function focusActive(): void {
    const { row, column } = active.value;
    const cell = cellsOf(row).find((each) => columnOf(each) === column);
    (cell?.querySelector<HTMLElement>('textarea, [tabindex]') ?? cell)?.focus({ preventScroll: true });
  }

  /** The displayed cells of a row. */
  function cellsOf(row: number): HTMLElement[] {
    const cells = grid.current?.querySelectorAll<HTMLElement>(`[aria-rowindex="${row + 2}"] > *`) ?? [];
    return [...cells].filter(({ offsetWidth }) => offsetWidth > 0);
  }

  function handleKey(event: KeyboardEvent): void {
    const { key, shiftKey } = event;
    const { row, column } = active.value;
    const book = row < 0 ? undefined : bookAt(row);
    const moveRow = ROW_MOVES[key];
    const moveCell = CELL_MOVES[key];
    if (event.altKey) return;
    if (event.ctrlKey || event.metaKey) {
      if (key === 'Home' || key === 'End') move(key === 'Home' ? 0 : count.value - 1, column);
      else return;
    } else if (moveRow) {
      const { upper, lower } = rowArea();
      const screen = Math.max(1, Math.floor((lower - upper) / rowHeight.value) - 1);
      move(moveRow(row, screen), column);
      if (shiftKey && row >= 0) extendRange(row, active.value.row);
      else anchor.current = active.value.row;
    } else if (moveCell) {
      const columns = cellsOf(row).map(columnOf);
      const last = columns.length - 1;
      const index = Math.min(Math.max(moveCell(columns.indexOf(column), last), 0), last);
      move(row, columns[index] ?? column);
    } else if (!book) return;
    else if (key === ' ' && !(event.target as Element).matches('input'))
      setSelected([book], !isSelected(book));
    else if (key === 'F2' || (key === 'Enter' && !(event.target as Element).matches('a, input')))
      edit(row, column);
    else if (key === 'Delete') void deleteSelectedOr(book);
    else return;
    event.preventDefault();
  }

  /** Opens a cell of the table for editing; in the first columns, the title. */
  function edit(row: number, column: number): void {
    const book = bookAt(row);
    const field = FIELDS.find((each) => CELLS.indexOf(each) === column) ?? 'title';
    if (book) editCell(book, field);
    move(row, CELLS.indexOf(field));
  }

  /** Enter saves a cell, Tab also opens the next one, and Esc discards the text. */
  function handleEditorKey(event: KeyboardEvent): void {
    event.stopPropagation();
    const { key, shiftKey } = event;
    const { row, column } = active.value;
    const { value: open } = openCell;
    if (!open || event.isComposing) return;
    if (key === 'Escape') closeCell();
    else if (key !== 'Tab' && (key !== 'Enter' || shiftKey)) return;
    event.preventDefault();
    if (!saveCell()) return;
    const next = neighbour(open.field, shiftKey ? -1 : 1);
    const isInTable = row + next.rows >= 0 && row + next.rows < count.value;
    if (key === 'Tab' && isInTable) edit(row + next.rows, CELLS.indexOf(next.field));
    else move(row, column);
  }

  /** Selects the rows up to `to`; moving back towards the start of the range deselects them. */
  function extendRange(from: number, to: number): void {
    const isBack = Math.abs(to - anchor.current) < Math.abs(from - anchor.current);
    const left = bookAt(from);
    if (isBack && left) setSelected([left], false);
    void selectRange(isBack ? to : from, to);
  }

  function clickRow(row: number, event: MouseEvent): void {
    const book = bookAt(row);
    const isCheck = (event.target as Element).closest('.select') !== null;
    if (!book) return;
    if (event.shiftKey) void selectRange(anchor.current, row);
    else if (isCheck || event.ctrlKey || event.metaKey) setSelected([book], !isSelected(book));
    else if (isNarrow.value || coarsePointer.matches) show({ book: book.id });
    anchor.current = row;
  }

  const { start, end } = drawn.value;
  const indexes = Array.from({ length: Math.min(end, count.value) - start }, (_, offset) => start + offset);
  // The focused row stays in the document when it is scrolled out of view, and in its place, as moving it would scroll the page.
  const { row: activeRow, column: activeColumn } = active.value;
  if (activeRow >= end && activeRow < count.value) indexes.push(activeRow);
  else if (activeRow >= 0 && activeRow < start) indexes.unshift(activeRow);
  // No row is outside of the element, so that it does not lengthen the page.
  const lowest = scroll.elementHeight.value - rowHeight.value;
  const topOf = (row: number) => Math.min(Math.max(row * rowHeight.value - scroll.shift.value, 0), lowest);
  void revision.value;
  return (
    <div
      ref={grid}
      class={loadError.value === undefined ? 'table' : 'table outdated'}
      style={widthProperties()}
      role="grid"
      aria-label={texts.value.books}
      aria-rowcount={count.value + 1}
      aria-colcount={CELLS.length}
      aria-multiselectable={true}
      aria-busy={isLoading.value}
      onKeyDown={handleKey}
      onFocusIn={({ target }) => {
        const cell = (target as Element).closest<HTMLElement>('[aria-colindex]');
        const row = Number(cell?.parentElement?.getAttribute('aria-rowindex')) - 2;
        if (!cell) return;
        active.value = { row, column: columnOf(cell) };
        // A row far away is not where the browser scrolls to.
        const isDrawn = row >= drawn.value.start && row < drawn.value.end;
        if (row >= 0 && !isDrawn) requestAnimationFrame(() => move(row, columnOf(cell)));
      }}
    >
      <TableHead sort={view.value.sort} activeColumn={activeRow === -1 ? activeColumn : undefined} />
      <div ref={body} class="rows" role="rowgroup" style={{ height: `${scroll.elementHeight.value}px` }}>
        <div class="row row-measure" aria-hidden="true" />
        {indexes.map((index) => (
          <TableRow
            key={index}
            index={index}
            top={topOf(index)}
            book={bookAt(index)}
            activeColumn={index === activeRow ? activeColumn : undefined}
            onClick={(event) => clickRow(index, event)}
            onEdit={(column) => edit(index, column)}
            onEditorKey={handleEditorKey}
          />
        ))}
      </div>
    </div>
  );
}

/** Where a tap opens a book, as there is no keyboard to edit its cells. */
const coarsePointer = matchMedia('(pointer: coarse)');

function columnOf(cell: Element): number {
  return Number(cell.getAttribute('aria-colindex')) - 1;
}
