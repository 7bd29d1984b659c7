import { effect, untracked, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import type { Book } from 'bookkeeping-client/index.ts';
import { FIELDS, type Field } from 'bookkeeping-formats/row.ts';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { texts } from '../../language/texts.ts';
import { CELLS, type Position, TITLE } from '../../state/cursor.ts';
import type { EditSession } from '../../state/edit-session.ts';
import { type RowRange, visibleRows } from '../../state/visible-rows.ts';
import { commandLetter, isOfInputMethod } from '../../ui/keys.ts';
import { useListeners } from '../../ui/use-listeners.ts';
import { later } from '../later-code.ts';
import { useApp } from '../use-app.ts';
import { useCellDrag } from './cell-drag.ts';
import type { EditorMoves } from './cells.ts';
import type { CopiedPlace } from './clipboard.ts';
import { handleEditorKey } from './editor-keys.ts';
import { useKeptPlace } from './kept-place.ts';
import { headHeight, rowArea, useListScroll } from './list-scroll.ts';
import { TableHead, TableRow } from './table-row.tsx';

/** The row that a key moves the focus to. */
const ROW_MOVES: Readonly<Record<string, (row: number, screen: number) => number>> = {
  ArrowDown: (row) => row + 1,
  ArrowUp: (row) => row - 1,
  PageDown: (row, screen) => row + screen,
  PageUp: (row, screen) => row - screen,
};

/** The cell that a key moves the focus to, by its index among the displayed cells of the row. */
const CELL_MOVES: Readonly<Record<string, (index: number, last: number) => number>> = {
  ArrowLeft: (index) => (document.dir === 'rtl' ? index + 1 : index - 1),
  ArrowRight: (index) => (document.dir === 'rtl' ? index - 1 : index + 1),
  Home: () => 0,
  End: (_index, last) => last,
};

/**
 * The table of books. Only the visible rows are in the document. Of their cells, one can be focused with Tab, the others with
 * arrows (the grid pattern of the ARIA Authoring Practices Guide).
 */
export function Table() {
  const app = useApp();
  const { list, cells, cursor, selection, address } = app;
  const { active, anchor } = cursor;
  const { isReadOnly } = app.session;
  const grid = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const drawn = useSignal<RowRange>({ start: 0, end: 40 });
  /** Whether there is an empty row after the last book. */
  const hasNewRow = useComputed(
    () =>
      !isReadOnly.value &&
      ((!address.isSearch.value &&
        address.view.value.sort === 'id' &&
        (list.counted.value ?? list.total.value) !== undefined) ||
        cells.open.value?.session.id === 'new'),
  );
  /** Before it, the new books that are being saved. */
  const added = useComputed(() => (hasNewRow.value ? cells.added : []));
  const count = useComputed(() => list.rowCount.value + added.value.length + Number(hasNewRow.value));
  const isNewRow = (row: number) => hasNewRow.value && row === count.value - 1;
  const draftAt = (row: number) => (isNewRow(row) ? cells.newBook : added.value[row - list.rowCount.value]);
  const idAt = (row: number) => (isNewRow(row) ? 0 : list.at(row)?.id);
  /** The row of the open edit, or else of the last one, has a place of its own in the document, where no other row moves it. */
  const edited = useRef<{ id: EditSession['id'] | undefined; row: number }>({ id: undefined, row: 0 });
  /** Goes on to the last row, of Ctrl + End before the books were counted. */
  const toEnd = useRef<(() => void) | undefined>(undefined);
  const scroll = useListScroll(grid, body, count, draw);
  const { rowHeight } = scroll;
  const kept = {
    app,
    idAt,
    newRow: () => (hasNewRow.value ? count.value - 1 : undefined),
    body,
    rowHeight,
    focusActive: keepFocus,
    showActive,
    scrollBy: scroll.scrollBy,
  };
  const keepPlace = useKeptPlace(kept);
  const rowAt = (y: number) => Math.floor((y - scroll.top()) / rowHeight.value);
  const drag = useCellDrag({ app, positionOf, rowAt, extend });

  function draw(): void {
    const top = scroll.top();
    const { start, end } = visibleRows(top, innerHeight, rowHeight.value, count.value);
    if (start !== drawn.value.start || end !== drawn.value.end) drawn.value = { start, end };
    list.loadRows(start, end);
    const { upper, lower } = rowArea();
    const [first, last] = [upper, lower].map((edge) => (edge - top) / rowHeight.value);
    const shown = {
      first: Math.max(0, Math.round(first ?? 0)),
      last: Math.min(Math.round(last ?? 0), list.rowCount.value) - 1,
    };
    if (JSON.stringify(shown) !== JSON.stringify(list.inView.peek())) list.inView.value = shown;
    keepPlace(upper - top);
  }

  // At once, and not after the next frame as with `useSignalEffect`, so that the focus is known before its row disappears.
  useEffect(
    () =>
      effect(() => {
        void [list.revision.value, list.isLoading.value, active.value, count.value];
        // It changes signals that it reads.
        untracked(() => {
          const { row, column } = active.value;
          const last = Math.max(0, count.value - 1);
          if (row > last) {
            cursor.go({ row: last, column });
            if (body.current?.contains(document.activeElement)) requestAnimationFrame(() => keepFocus());
          }
          draw();
        });
      }),
    [],
  );

  // A new query starts at its first row: at once, before the user moves to another one, or the list has one to show.
  const query = useComputed(() => address.query.value);
  useLayoutEffect(() => {
    cursor.reset();
    const top = (grid.current?.getBoundingClientRect().top ?? 0) - headHeight();
    if (top < 0) scrollBy(0, top);
    scroll.reset();
  }, [query.value]);

  useSignalEffect(() => {
    const { value: target } = list.target;
    list.target.value = undefined;
    // Not away from a cell that the user edits.
    if (!target || cells.open.peek()) return;
    const isFocused =
      target.isFocused && !(target.isLate && document.activeElement?.matches('input:not([type=checkbox])'));
    untracked(() => move(target.row, active.value.column, target.isFirst, isFocused));
  });

  useSignalEffect(() => {
    const { current: go } = toEnd;
    if (list.total.value === undefined || !go) return;
    toEnd.current = undefined;
    untracked(go);
  });

  useListeners((signal) => {
    addEventListener('copy', handleCopy, { signal });
    addEventListener('cut', handleCut, { signal });
    addEventListener('paste', handlePaste, { signal });
  });

  function move(to: number, column: number, isFirst = false, isFocused = true): void {
    cursor.go({ row: Math.max(0, Math.min(to, count.value - 1)), column });
    showActive(isFirst, isFocused);
  }

  function showActive(isFirst = false, isFocused = true): void {
    scroll.show(active.value.row, isFirst);
    draw();
    if (!isFocused) return;
    const { activeElement: before } = document;
    focusActive(); // The next key may come before the next frame, in which new rows and editors are there.
    requestAnimationFrame(() => keepFocus(before));
  }

  /** Moves to another cell, to which a range then reaches. There is none in the row of a new book. */
  function extend(to: number, column: number): void {
    const last = (column < TITLE ? count : list.rowCount).value - 1;
    active.value = { row: Math.max(0, Math.min(to, last)), column };
    if (anchor.value.row > last) cursor.endRange();
    showActive();
  }

  function focusActive(): void {
    const editor = grid.current?.querySelector<HTMLElement>('.cell-editor');
    const { row, column } = active.value;
    const cell = displayedCells(row).find((each) => columnOf(each) === column);
    const control = cell?.querySelector<HTMLElement>('input, :scope.id > a');
    (editor ?? control ?? cell)?.focus({ preventScroll: true });
  }

  /** Focuses the active cell, unless the user has moved the focus meanwhile. @param before the element that had it */
  function keepFocus(before: Element | null = document.body): void {
    const { activeElement: focused } = document;
    if (focused === before || focused === document.body || body.current?.contains(focused)) focusActive();
  }

  /** The displayed cells of a row. */
  function displayedCells(row: number): HTMLElement[] {
    const found = grid.current?.querySelectorAll<HTMLElement>(`[aria-rowindex="${row + 2}"] > *`) ?? [];
    return [...found].filter(({ offsetWidth }) => offsetWidth > 0);
  }

  function handleKey(event: KeyboardEvent): void {
    const { key, shiftKey } = event;
    const { row, column } = active.value;
    const book = list.at(row);
    const moveRow = ROW_MOVES[key];
    const moveCell = CELL_MOVES[key];
    if (event.altKey || isOfInputMethod(event)) return;
    // The code of its editor is still being loaded, or a composition that this key has ended has opened the cell.
    if (
      cells.open.value &&
      (!later.value || cells.of(isNewRow(row) ? 'new' : book?.id, CELLS[column] ?? ''))
    ) {
      if (key.length > 1) handleEditorKey(app, moves, event);
      else if (!later.value && !event.ctrlKey && !event.metaKey) edit(row, column, key);
      return;
    }
    const isField = column >= TITLE;
    if (event.ctrlKey || event.metaKey) {
      // On a check box, what Shift starts there stays.
      const go = shiftKey || !isField ? extend : move;
      const goToEnd = () => go((go === move ? count : list.rowCount).value - 1, column);
      if (key === 'Home' || key === 'ArrowUp') go(0, column);
      else if (key === 'End' || key === 'ArrowDown') {
        goToEnd();
        const { value: reached } = active;
        const isStill = () => cursor.isAt(reached) && body.current?.contains(document.activeElement);
        if (list.total.value === undefined) toEnd.current = () => isStill() && goToEnd();
      } else if (commandLetter(event) === 'd' && isField && !isReadOnly.value)
        void later.value?.fillDown(app);
      else if (!moveCell) return;
    } else if (moveRow) {
      const { upper, lower } = rowArea();
      const screen = Math.max(1, Math.floor((lower - upper) / rowHeight.value) - 1);
      (shiftKey ? extend : move)(moveRow(row, screen), column);
      if (shiftKey && !isField) extendRange(row, active.value.row);
    } else if (moveCell) {
      const columns = displayedCells(row).map(columnOf);
      const last = columns.length - 1;
      const index = Math.min(Math.max(moveCell(columns.indexOf(column), last), 0), last);
      const to = columns[index] ?? column;
      if (shiftKey && isField) extend(row, Math.max(TITLE, to));
      else move(row, to);
    } else if (!book && !isNewRow(row)) return;
    else if (key === ' ' && book && !(event.target as Element).matches('input'))
      selection.set([book], !selection.has(book));
    else if (key === 'F2' || (key === 'Enter' && !(event.target as Element).matches('a, input')))
      edit(row, column);
    else if ((key === 'Delete' || key === 'Backspace') && !isReadOnly.value) {
      if (cursor.range.value) void later.value?.emptyCells(app);
      else if (book && isField) write(row, column, '');
      else if (key === 'Delete') later.value?.deleteSelected(app);
    } else if (key.length === 1 && isField) edit(row, column, key);
    else return;
    event.preventDefault();
  }

  /** Replaces the text of a cell, in which the reason is shown if it cannot be stored. That of a new book waits for the others. */
  function write(row: number, column: number, text: string): void {
    edit(row, column, text);
    if (!isNewRow(row) && cells.save()) move(row, column);
  }

  /**
   * Opens a cell of the table for editing, in the first columns the title; in a read-only session, the book.
   *
   * @param text typed instead of the present one
   */
  function edit(row: number, column: number, text?: string, isTypedOver?: boolean): void {
    const book = list.at(row);
    const field = fieldOf(column) ?? 'title';
    if (isReadOnly.value) {
      if (book && text === undefined) app.dialogs.show({ kind: 'book', id: book.id });
      return;
    }
    if (book || isNewRow(row)) cells.edit(book, field, text, isTypedOver);
    move(row, CELLS.indexOf(field));
  }

  /** Whether the focus is on a cell that is not being edited. */
  function isCellFocused(): boolean {
    const { activeElement: focused } = document;
    return (
      body.current?.contains(focused) === true && !focused?.matches('textarea, input:not([type=checkbox])')
    );
  }

  const place = (): CopiedPlace => ({ ...active.value, field: fieldOf(active.value.column), write });
  function handleCopy(event: ClipboardEvent): void {
    if (isCellFocused() && getSelection()?.isCollapsed) void later.value?.copyCells(app, event, place());
  }

  function handleCut(event: ClipboardEvent): void {
    if (isCellFocused() && !isReadOnly.value && getSelection()?.isCollapsed)
      void later.value?.cutCells(app, event, place());
  }

  function handlePaste(event: ClipboardEvent): void {
    if (isCellFocused() && !isReadOnly.value) later.value?.pasteCells(app, event, place());
  }

  /** Selects the rows up to `to`; moving back towards the start of the range deselects them. */
  function extendRange(from: number, to: number): void {
    const isBack = Math.abs(to - anchor.value.row) < Math.abs(from - anchor.value.row);
    const left = list.at(from);
    if (isBack && left) selection.set([left], false);
    void selection.setRange(isBack ? to : from, to);
  }

  function clickRow(row: number, event: MouseEvent): void {
    if (drag.endsDrag(event)) return;
    const book = list.at(row);
    const target = event.target as Element;
    const column = positionOf(target)?.column ?? active.value.column;
    if (event.shiftKey && column >= TITLE && anchor.value.column >= TITLE) {
      if (!target.closest('.editing')) extend(row, column);
      return;
    }
    const isPlain = !event.shiftKey && !event.ctrlKey && !event.metaKey;
    const isOpened =
      target.closest('a, .open') !== null ||
      ((app.isNarrow.value || app.isTouched.value) && !cells.open.value);
    if (target.closest('a')) event.preventDefault();
    if (isNewRow(row) && (app.isNarrow.value || app.isTouched.value))
      app.dialogs.show({ kind: 'book', id: 'new' });
    if (!book || target.closest('.editing')) return;
    if (event.shiftKey) {
      void selection.setRange(anchor.value.row, row);
      move(row, anchor.value.column);
    } else if (target.closest('.select') || !isPlain) selection.set([book], !selection.has(book));
    else if (isOpened) app.dialogs.show({ kind: 'book', id: book.id });
  }

  /** The row of the book that is edited. One that another user has deleted keeps its row as long as it is. */
  function findEdited(id: EditSession['id']): number {
    const row = id === 'new' ? count.value - 1 : list.loaded.rowOf(id);
    if (row !== undefined) edited.current = { id, row };
    return edited.current.row;
  }

  const { value: open } = cells.open;
  if (open) findEdited(open.session.id);
  const hadFocus = body.current?.contains(document.activeElement);
  useLayoutEffect(() => {
    const { activeElement: focused } = document;
    const position = body.current?.contains(focused) && positionOf(focused);
    // The element that had it was drawn anew, or its book is in another row now.
    if (hadFocus && (focused === document.body || (position && !cursor.isAt(position)))) focusActive();
  });

  const moves: EditorMoves = { rowOf: findEdited, rowCount: () => count.value, edit, move };
  const { start, end } = drawn.value;
  const indexes = Array.from({ length: Math.min(end, count.value) - start }, (_, offset) => start + offset);
  // The focused row stays in the document when it is scrolled out of view, and in its place, as moving it would scroll the page.
  const { row: activeRow, column: activeColumn } = active.value;
  if (activeRow >= end && activeRow < count.value) indexes.push(activeRow);
  else if (activeRow < start) indexes.unshift(activeRow);
  // No row is outside of the element, so that it does not lengthen the page.
  const lowest = scroll.elementHeight.value - rowHeight.value;
  const topOf = (row: number) => Math.min(Math.max(row * rowHeight.value - scroll.shift.value, 0), lowest);
  const digits = Math.max(...indexes.map((index) => String(list.at(index)?.id ?? '').length));
  void list.revision.value;
  const { id: editedId } = edited.current;
  const isEdited = (row: number) =>
    editedId !== undefined && (editedId === 'new' ? isNewRow(row) : list.at(row)?.id === editedId);
  const editedRow = open ? edited.current.row : indexes.find(isEdited);
  const keys = new Set<string>();
  const keyOf = (index: number) => {
    const id = list.at(index)?.id;
    const key = isNewRow(index) ? 'new' : id === undefined || keys.has(`${id}`) ? `row ${index}` : `${id}`;
    keys.add(key);
    return key;
  };
  const renderRow = (index: number, key: string | number, book: Book | undefined) => (
    <TableRow
      key={key}
      index={index}
      top={topOf(index)}
      book={book}
      draft={draftAt(index)}
      isNew={isNewRow(index)}
      activeColumn={index === activeRow ? activeColumn : undefined}
      onClick={(event) => clickRow(index, event)}
      onEdit={(column, text) => edit(index, column, text)}
      moves={moves}
    />
  );
  return (
    <div
      ref={grid}
      class={list.error.value === undefined ? 'table' : 'table outdated'}
      style={{
        '--digits': digits,
        '--fields': app.preferences.columnShares.value.map((share) => `minmax(3.5rem, ${share}fr)`).join(' '),
      }}
      role="grid"
      aria-label={texts.value.books}
      aria-rowcount={count.value + 1}
      aria-colcount={CELLS.length}
      aria-multiselectable={true}
      aria-readonly={isReadOnly.value}
      aria-busy={list.isLoading.value}
    >
      <TableHead />
      <div
        ref={body}
        class="rows"
        role="rowgroup"
        style={{ height: `${scroll.elementHeight.value}px` }}
        onKeyDown={handleKey}
        onMouseDown={drag.press}
        onFocusIn={({ target }) => {
          const position = positionOf(target);
          if (!position) return;
          const { row } = position;
          // A row far away is not where the browser has scrolled to.
          const isDrawn = row >= drawn.value.start && row < drawn.value.end;
          if (!cursor.isAt(position)) cursor.go(position);
          if (!isDrawn) requestAnimationFrame(() => cursor.isAt(position) && showActive());
        }}
      >
        <div class="row row-measure" aria-hidden="true" />
        {indexes
          .filter((index) => !isEdited(index))
          .map((index) => renderRow(index, keyOf(index), list.at(index)))}
        <div role="presentation">
          {editedRow !== undefined &&
            editedId !== undefined &&
            renderRow(editedRow, editedId, isEdited(editedRow) ? list.at(editedRow) : open?.session.base)}
        </div>
      </div>
    </div>
  );
}

/** The place of the cell that has an element. */
function positionOf(target: EventTarget | null): Position | undefined {
  const cell = (target as Element | null)?.closest('[aria-colindex]');
  const row = Number(cell?.parentElement?.getAttribute('aria-rowindex')) - 2;
  return cell ? { row, column: columnOf(cell) } : undefined;
}

function columnOf(cell: Element): number {
  return Number(cell.getAttribute('aria-colindex')) - 1;
}

/** The field of a column that can be edited. */
function fieldOf(column: number): Field | undefined {
  return FIELDS.find((field) => CELLS.indexOf(field) === column);
}
