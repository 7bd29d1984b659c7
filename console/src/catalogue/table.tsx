import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { deleteBook } from '../book/pending-deletions.ts';
import { texts } from '../language/texts.ts';
import { queryOf, show, view } from '../page/address.ts';
import { bookAt, isLoading, loadError, loadRows, revision, rowCount, shownPart } from './catalogue.ts';
import { widthProperties } from './column-width.tsx';
import { TableHead, TableRow } from './table-row.tsx';
import { type RowRange, visibleRows } from './visible-rows.ts';

/** The row that a key moves the focus to. */
const MOVES: Readonly<Record<string, (index: number, screen: number, count: number) => number>> = {
  ArrowDown: (index) => index + 1,
  ArrowUp: (index) => index - 1,
  PageDown: (index, screen) => index + screen,
  PageUp: (index, screen) => index - screen,
  Home: () => 0,
  End: (_index, _screen, count) => count - 1,
};

/** The table of books. Only the visible rows are in the document, and one of them can be focused. */
export function Table() {
  const grid = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const rowHeight = useSignal(48);
  const drawn = useSignal<RowRange>({ start: 0, end: 40 });
  const active = useSignal(0);
  const count = useComputed(rowCount);

  function draw(): void {
    const top = body.current?.getBoundingClientRect().top ?? 0;
    const { start, end } = visibleRows(top, innerHeight, rowHeight.value, count.value);
    if (start !== drawn.value.start || end !== drawn.value.end) drawn.value = { start, end };
    loadRows(start, end);
  }

  useEffect(() => {
    const measure = () => {
      rowHeight.value = grid.current?.querySelector<HTMLElement>('.row-measure')?.offsetHeight || 48;
      draw();
    };
    const observer = new ResizeObserver(measure);
    for (const element of [grid.current, grid.current?.querySelector('.row-measure')]) {
      if (element) observer.observe(element);
    }
    addEventListener('scroll', draw, { passive: true });
    return () => {
      observer.disconnect();
      removeEventListener('scroll', draw);
    };
  }, []);
  useSignalEffect(() => {
    void revision.value;
    void isLoading.value;
    if (active.peek() >= count.value) active.value = Math.max(0, count.value - 1);
    draw();
  });

  // A new query starts at its first row.
  const query = useComputed(() => JSON.stringify(queryOf(view.value)));
  useEffect(() => {
    active.value = 0;
    const top = grid.current?.getBoundingClientRect().top ?? 0;
    if (top < 0) scrollBy(0, top);
  }, [query.value]);

  function move(to: number): void {
    const index = Math.min(Math.max(to, 0), count.value - 1);
    active.value = index;
    const rect = body.current?.getBoundingClientRect();
    if (!rect) return;
    const top = rect.top + index * rowHeight.value;
    const { upper, lower } = rowArea();
    if (top < upper) scrollBy(0, top - upper);
    else if (top + rowHeight.value > lower) scrollBy(0, top + 2 * rowHeight.value - lower);
    draw();
    requestAnimationFrame(() => focusRow(index));
  }

  function focusRow(index: number): void {
    body.current?.querySelector<HTMLElement>(`[data-index="${index}"]`)?.focus({ preventScroll: true });
  }

  function handleKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isRow = (event.target as Element).getAttribute('role') === 'row';
    const next = MOVES[event.key];
    const book = bookAt(active.value);
    if (next) {
      const { upper, lower } = rowArea();
      const screen = Math.max(1, Math.floor((lower - upper) / rowHeight.value) - 1);
      move(next(active.value, screen, count.value));
    } else if (isRow && event.key === 'Enter' && book) show({ book: book.id });
    else if (isRow && event.key === 'Delete' && book) deleteBook(book);
    else return;
    event.preventDefault();
  }

  const { start, end } = drawn.value;
  const part = shownPart();
  const indexes = Array.from({ length: Math.min(end, count.value) - start }, (_, offset) => start + offset);
  // The focused row stays in the document when it is scrolled out of view.
  if (active.value < count.value && !indexes.includes(active.value)) indexes.push(active.value);
  void revision.value;
  return (
    <div
      ref={grid}
      class={loadError.value === undefined ? 'table' : 'table outdated'}
      style={widthProperties()}
      role="grid"
      aria-label={texts.value.books}
      aria-rowcount={count.value + 1}
      aria-colcount={4}
      aria-busy={isLoading.value}
      onKeyDown={handleKey}
    >
      <TableHead sort={view.value.sort} />
      <div ref={body} class="rows" role="rowgroup" style={{ height: `${count.value * rowHeight.value}px` }}>
        <div class="row row-measure" aria-hidden="true" />
        {indexes.map((index) => (
          <TableRow
            key={index}
            index={index}
            top={index * rowHeight.value}
            book={bookAt(index)}
            isActive={index === active.value}
            isAfterGap={index === part?.first}
            onFocus={() => {
              active.value = index;
            }}
          />
        ))}
      </div>
    </div>
  );
}

/** The part of the window between the head of the table and the bar at the lower edge. */
function rowArea(): { upper: number; lower: number } {
  return {
    upper: document.querySelector('.head')?.getBoundingClientRect().bottom ?? 0,
    lower: document.querySelector('.bottom')?.getBoundingClientRect().top ?? innerHeight,
  };
}
