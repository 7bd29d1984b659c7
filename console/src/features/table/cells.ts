import type { EditSession } from '../../state/edit-session.ts';
import { COLUMNS } from '../../state/sort.ts';

/** The cells of a row, in order. */
export const CELLS = ['select', ...COLUMNS] as const;
export type CellName = (typeof CELLS)[number];
/** The index of the first cell that is edited. */
export const TITLE = CELLS.indexOf('title');

/** What an editor does with the table. */
export interface EditorMoves {
  readonly rowOf: (id: EditSession['id']) => number;
  readonly rowCount: () => number;
  readonly edit: (row: number, column: number, text?: string, isTypedOver?: boolean) => void;
  readonly move: (row: number, column: number) => void;
}
