import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ListHeight } from '../../state/visible-rows.ts';

const shown = (name: string) => document.querySelector<HTMLElement>(name);
const bottomOf = (name: string) => shown(name)?.getBoundingClientRect().bottom ?? 0;
const heightOf = (name: string) => shown(name)?.offsetHeight ?? 0;

/** The part of the window between the head of the table, which is below the bar at the top, and the bar at the lower edge. */
export function rowArea(): { upper: number; lower: number } {
  return {
    upper: Math.max(bottomOf('.top'), bottomOf('.head')),
    lower: shown('.bottom')?.getBoundingClientRect().top ?? innerHeight,
  };
}

/** The height of the bar at the top and of the head of the table, which stay in view. */
export function headHeight(): number {
  return heightOf('.top') + heightOf('.head');
}

interface ElementRef {
  readonly current: HTMLElement | null;
}

/**
 * Scrolls a list of any height with the scroll bar of the window.
 *
 * @param grid has a `.row-measure`
 * @param body the element of the rows
 * @param draw is called when other rows may be visible
 */
export function useListScroll(
  grid: ElementRef,
  body: ElementRef,
  count: ReadonlySignal<number>,
  draw: () => void,
) {
  const rowHeight = useSignal(48);
  const height = useComputed(() => new ListHeight(count.value * rowHeight.value, rowArea().lower));
  const wanted = useSignal(0);
  /** By how many pixels the rows are drawn above their places in the list. */
  const shift = useComputed(() => Math.min(wanted.value, height.value.excess));
  const elementHeight = useComputed(() => height.value.element);
  const last = useRef(0);
  const scrolled = () => -(body.current?.getBoundingClientRect().top ?? 0);
  /** The upper edge of the first row in the viewport. */
  const top = () => -scrolled() - shift.value;

  function scrollList(pixels: number): void {
    const position = scrolled() + shift.value + pixels;
    scrollBy(0, height.value.scrolledAt(position) - scrolled());
    last.current = scrolled();
    wanted.value = Math.max(0, position - last.current);
  }

  /** Scrolls as far as needed to show a row, or until it is the first below the head. */
  function show(row: number, isFirst: boolean): void {
    const rowTop = top() + row * rowHeight.value;
    const { upper, lower: bottom } = rowArea();
    // Above a message, which is over the list.
    const lower = Math.min(bottom, shown('.toast')?.getBoundingClientRect().top ?? bottom);
    if (isFirst) scrollList(rowTop - headHeight());
    else if (rowTop < upper) scrollList(rowTop - upper);
    else if (rowTop + rowHeight.value > lower) scrollList(rowTop + 2 * rowHeight.value - lower);
  }

  /** Shows the part of the list of the scroll bar's place. */
  function reset(): void {
    last.current = scrolled();
    wanted.value = height.value.shiftAt(last.current);
  }

  function handleScroll(): void {
    const { element, excess } = height.value;
    const now = scrolled();
    const isAtStart = now <= 0 && shift.value > 0;
    const isAtEnd = now >= element - rowArea().lower && shift.value < excess;
    // The scroll bar has moved by at least half a pixel.
    if (Math.abs(now - last.current) > element / innerHeight / 2) reset();
    else if (isAtStart || isAtEnd) scrollList(0);
    last.current = scrolled();
    draw();
  }

  function measure(): void {
    const measured = grid.current?.querySelector<HTMLElement>('.row-measure')?.offsetHeight || 48;
    if (measured !== rowHeight.value) {
      rowHeight.value = measured;
      reset();
    }
    draw();
  }

  useEffect(() => {
    measure();
    // In the next frame, as browsers report an observer that resizes elements.
    const observer = new ResizeObserver(() => requestAnimationFrame(measure));
    for (const element of [grid.current, grid.current?.querySelector('.row-measure')])
      if (element) observer.observe(element);
    const handleScrollEnd = () => scrollList(0);
    addEventListener('scroll', handleScroll, { passive: true });
    addEventListener('scrollend', handleScrollEnd);
    return () => {
      observer.disconnect();
      removeEventListener('scroll', handleScroll);
      removeEventListener('scrollend', handleScrollEnd);
    };
  }, []);

  return { rowHeight, shift, elementHeight, top, scrollBy: scrollList, show, reset };
}
