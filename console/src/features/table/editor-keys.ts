import { allTexts } from '../../language/texts.ts';
import type { App } from '../../state/app.ts';
import { type CellEdit, neighbour } from '../../state/cell-edits.ts';
import { CELLS, TITLE } from '../../state/cursor.ts';
import { isOfInputMethod } from '../../ui/keys.ts';
import type { EditorMoves } from './cells.ts';

/**
 * Handles a key while a cell is open. Enter saves it and moves down, Tab saves it and opens the next one, as both do in a new book, and an
 * arrow key ends a text that is typed over another one. Esc discards the text.
 */
export function handleEditorKey(app: App, moves: EditorMoves, event: KeyboardEvent): void {
  event.stopPropagation();
  const { cells } = app;
  const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
  const { value: open } = cells.open;
  if (!open || isOfInputMethod(event)) return;
  if (key === 'F2' || key === 'Home' || key === 'End') cells.stay();
  const isPlain = !shiftKey && !ctrlKey && !metaKey && !altKey;
  const arrow = open.isTypedOver && isPlain ? arrowOf(event) : undefined;
  const isEnter = key === 'Enter' && !shiftKey;
  if (key !== 'Escape' && key !== 'Tab' && !isEnter && !arrow) return;
  event.preventDefault();
  const { field, session } = open;
  const [row, rowCount] = [moves.rowOf(session.id), moves.rowCount()];
  const isNew = session.id === 'new';
  const next = neighbour(field, arrow?.cells ?? (shiftKey ? -1 : 1));
  const nextColumn = CELLS.indexOf(next.field);
  const isInTable = row + next.rows >= 0 && row + next.rows < rowCount;
  const leave = (to: number, column = CELLS.indexOf(field)) => {
    // What was the row of the new book is that of the next one.
    if (cells.save()) moves.move(to, isNew && to >= row ? TITLE : column);
  };
  if (key === 'Escape') discard(app, moves, open);
  else if (arrow?.rows) leave(row + arrow.rows);
  // The cells of a new book are saved together, in the last one.
  else if (isNew && next.rows === 0) moves.edit(row, nextColumn, undefined, true);
  else if (isNew) leave(isEnter || next.rows > 0 ? rowCount : row);
  else if (arrow) {
    if (next.rows === 0) leave(row, nextColumn);
  } else if (isEnter) leave(row + 1);
  else if (!isInTable) leave(row);
  else if (cells.save()) moves.edit(row + next.rows, nextColumn);
}

/** Closes the open cell. What was typed of a new book is discarded only after a question. */
function discard({ cells, dialogs }: App, moves: EditorMoves, { field, session }: CellEdit): void {
  const isNew = session.id === 'new';
  const close = () => {
    if (cells.open.value?.session !== session) return;
    const row = moves.rowOf(session.id);
    cells.close();
    moves.move(row, isNew ? TITLE : CELLS.indexOf(field));
  };
  /** Until the texts of dialogs are loaded, not all are there. */
  const { discardQuestion, discard: yes }: Partial<typeof allTexts.value> = allTexts.value;
  if (!isNew || session.isUnchanged || discardQuestion === undefined) close();
  else void dialogs.ask(discardQuestion, yes).then((isYes) => isYes && close());
}

/** Where an arrow key leads: to another row, or to the next or the previous cell. */
function arrowOf({ key, target }: KeyboardEvent): { rows?: 1 | -1; cells?: 1 | -1 } | undefined {
  const forwards = document.dir === 'rtl' ? 'ArrowLeft' : 'ArrowRight';
  if (key === 'ArrowLeft' || key === 'ArrowRight') return { cells: key === forwards ? 1 : -1 };
  // Those of a list of suggestions are for the list.
  const isListed = (target as HTMLInputElement).list?.options.length;
  if (isListed || (key !== 'ArrowUp' && key !== 'ArrowDown')) return undefined;
  return { rows: key === 'ArrowUp' ? -1 : 1 };
}
