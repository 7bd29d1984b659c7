import { effect, signal } from '@preact/signals';
import type { TargetedKeyboardEvent, TargetedPointerEvent } from 'preact';
import { formatMessage } from '../language/format.ts';
import { texts } from '../language/texts.ts';
import { readStored } from '../page/preferences.ts';

/** The widths of columns in rem; the title has the rest. */
const DEFAULT_WIDTHS = { id: 4.5, author: 22, year: 5.5 };
const WIDTH_MIN = 3;
const WIDTH_MAX = 60;

type ResizableColumn = keyof typeof DEFAULT_WIDTHS;

const STORED_WIDTHS = 'columns';

const widths = signal({ ...DEFAULT_WIDTHS, ...readStored(STORED_WIDTHS, DEFAULT_WIDTHS) });
effect(() => {
  localStorage.setItem(STORED_WIDTHS, JSON.stringify(widths.value));
});

/** The widths as custom properties for the style sheet. */
export function widthProperties(): Record<`--${ResizableColumn}`, string> {
  const { id, author, year } = widths.value;
  return { '--id': `${id}rem`, '--author': `${author}rem`, '--year': `${year}rem` };
}

/** The edge between a column and the title: dragged, or moved by the arrow keys; a double click resets it. */
export function ColumnEdge({ column }: { column: ResizableColumn }) {
  const t = texts.value;
  const width = widths.value[column];
  // The other columns are after the title, and grow when their edge moves backwards.
  const sign = column === 'id' ? 1 : -1;

  function resize(to: number): void {
    const rounded = Math.round(Math.min(Math.max(to, WIDTH_MIN), WIDTH_MAX) * 100) / 100;
    widths.value = { ...widths.value, [column]: rounded };
  }

  function drag({
    currentTarget: edge,
    pointerId,
    clientX: startX,
  }: TargetedPointerEvent<HTMLElement>): void {
    edge.setPointerCapture(pointerId);
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    const start = (edge.parentElement?.offsetWidth ?? 0) / rem;
    const listener = new AbortController();
    const { signal: ended } = listener;
    edge.addEventListener(
      'pointermove',
      ({ clientX }) => resize(start + (sign * directionOfText() * (clientX - startX)) / rem),
      { signal: ended },
    );
    edge.addEventListener('lostpointercapture', () => listener.abort(), { signal: ended });
  }

  function moveByKey(event: TargetedKeyboardEvent<HTMLElement>): void {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    resize(width + sign * directionOfText() * step);
  }

  return (
    <div
      role="separator"
      class="edge"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={formatMessage(t.columnWidth, { column: t.columns[column] })}
      aria-valuenow={width}
      aria-valuemin={WIDTH_MIN}
      aria-valuemax={WIDTH_MAX}
      onPointerDown={drag}
      onKeyDown={moveByKey}
      onDblClick={() => resize(DEFAULT_WIDTHS[column])}
    />
  );
}

/** -1 in a language that is written from right to left. */
function directionOfText(): 1 | -1 {
  return document.documentElement.dir === 'rtl' ? -1 : 1;
}
