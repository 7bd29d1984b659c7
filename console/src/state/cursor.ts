import { computed, signal } from '@preact/signals';
import { FIELDS, type Field } from 'bookkeeping-formats/row.ts';
import { COLUMNS } from './sort.ts';

/** The cells of a row, in order. */
export const CELLS = ['select', ...COLUMNS] as const;
export type CellName = (typeof CELLS)[number];
/** The index of the first cell that is edited. */
export const TITLE = CELLS.indexOf('title');

/** A cell of the table; its column is an index of {@link CELLS}. */
export interface Position {
  readonly row: number;
  readonly column: number;
}

/** A rectangle of cells that can be edited; `last` is inclusive. */
export interface CellRange {
  readonly first: number;
  readonly last: number;
  readonly fields: readonly Field[];
}

const START: Position = { row: 0, column: TITLE };

/** The active cell, and the range of cells that ends at it. */
export class Cursor {
  readonly active = signal(START);
  /** Where Shift or the mouse starts a range: of cells or, in the columns before the title, of books. */
  readonly anchor = signal(START);
  /** The range; undefined if it is a single cell. */
  readonly range = computed((): CellRange | undefined => {
    const { value: one } = this.anchor;
    const { value: other } = this.active;
    const [left, right] = [Math.min(one.column, other.column), Math.max(one.column, other.column)];
    if (left < TITLE || this.isAt(one)) return undefined;
    return {
      first: Math.min(one.row, other.row),
      last: Math.max(one.row, other.row),
      fields: FIELDS.slice(left - TITLE, right - TITLE + 1),
    };
  });

  /** The last cell of the range, or the active one. */
  readonly corner = computed((): Position => {
    const { row, column } = this.anchor.value;
    const { value: active } = this.active;
    return this.range.value
      ? { row: Math.max(row, active.row), column: Math.max(column, active.column) }
      : active;
  });

  /** Makes a cell the active one, and ends the range. */
  go(position: Position): void {
    this.active.value = this.anchor.value = position;
  }

  /** Makes the last cell of the range the active one. */
  goToCorner(): void {
    const { value: range } = this.range;
    const { value: corner } = this.corner;
    const start = range && { row: range.first, column: corner.column - range.fields.length + 1 };
    this.active.value = corner;
    this.anchor.value = start ?? corner;
  }

  /** Whether it is where it is after {@link reset}. */
  get isAtStart(): boolean {
    return this.isAt(START);
  }

  isAt({ row, column }: Position): boolean {
    return this.active.value.row === row && this.active.value.column === column;
  }

  /** Ends the range at the active cell. */
  endRange(): void {
    this.anchor.value = this.active.value;
  }

  reset(): void {
    this.go(START);
  }

  /** Moves with books whose rows have moved. */
  shift(rows: number): void {
    for (const each of [this.active, this.anchor]) each.value = { ...each.value, row: each.value.row + rows };
  }

  /** Whether a cell is in the range, if there is one. */
  has(row: number, name: CellName): boolean | undefined {
    const { value: range } = this.range;
    return range && row >= range.first && row <= range.last && range.fields.some((field) => field === name);
  }
}
