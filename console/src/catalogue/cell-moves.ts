/** The row that a key moves the focus to; row -1 is the head. */
export const ROW_MOVES: Readonly<Record<string, (row: number, screen: number) => number>> = {
  ArrowDown: (row) => row + 1,
  ArrowUp: (row) => row - 1,
  PageDown: (row, screen) => row + screen,
  PageUp: (row, screen) => Math.max(0, row - screen),
};

/** The cell that a key moves the focus to, by its index among the displayed cells of the row. */
export const CELL_MOVES: Readonly<Record<string, (index: number, last: number) => number>> = {
  ArrowLeft: (index) => (document.dir === 'rtl' ? index + 1 : index - 1),
  ArrowRight: (index) => (document.dir === 'rtl' ? index - 1 : index + 1),
  Home: () => 0,
  End: (_index, last) => last,
};

/** The part of the window between the head of the table and the bar at the lower edge. */
export function rowArea(): { upper: number; lower: number } {
  return {
    upper: document.querySelector('.head')?.getBoundingClientRect().bottom ?? 0,
    lower: document.querySelector('.bottom')?.getBoundingClientRect().top ?? innerHeight,
  };
}
