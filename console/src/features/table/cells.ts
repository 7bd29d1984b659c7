import type { EditSession } from '../../state/edit-session.ts';

/** What an editor does with the table. */
export interface EditorMoves {
  readonly rowOf: (id: EditSession['id']) => number;
  readonly rowCount: () => number;
  readonly edit: (row: number, column: number, text?: string, isTypedOver?: boolean) => void;
  readonly move: (row: number, column: number) => void;
}
