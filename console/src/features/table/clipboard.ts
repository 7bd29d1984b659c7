import type { Book } from 'bookkeeping-client/index.ts';
import type { Field } from 'bookkeeping-formats/row.ts';
import { formatMessage } from '../../language/format.ts';
import { allTexts } from '../../language/texts.ts';
import type { App } from '../../state/app.ts';
import type { CellRange } from '../../state/cursor.ts';
import { CELL_ROWS_MAX, cellsOf, copiedText, paste, textOf } from '../../state/paste.ts';
import { copyRange, emptyCopied } from './cell-range.ts';

/** The focused cell. */
export interface CopiedPlace {
  readonly row: number;
  readonly column: number;
  /** Undefined in a column that cannot be edited. */
  readonly field: Field | undefined;
  /** Replaces the text of a cell. */
  readonly write: (row: number, column: number, text: string) => void;
}

/**
 * Copies the range or, if there is none, the selected books or, if none is selected, the text of the focused cell.
 *
 * @returns the books that it has copied, or of which it has copied cells
 */
export async function copyCells(
  app: App,
  event: ClipboardEvent,
  place: CopiedPlace,
): Promise<readonly Book[]> {
  const { list, selection, cursor, toasts } = app;
  const book = list.at(place.row);
  const books = selection.loaded();
  event.preventDefault();
  const { value: range } = cursor.range;
  if (range) return copyRange(app, event, range);
  if (books.length < selection.count.value) {
    toasts.show({ text: () => allTexts.value.tooManyToCopy, isError: true });
    return [];
  }
  if (books.length > 0) event.clipboardData?.setData('text/plain', textOf(books));
  else if (book) event.clipboardData?.setData('text/plain', copiedText(book, place.field ?? 'title'));
  return books.length > 0 || !book ? books : [book];
}

/** Copies the range or the focused cell, and empties it; selected books are copied only. */
export async function cutCells(app: App, event: ClipboardEvent, place: CopiedPlace): Promise<void> {
  const { value: range } = app.cursor.range;
  const isCell = app.selection.count.value === 0 && place.field !== undefined;
  const copied = await copyCells(app, event, place);
  if (copied.length === 0) return;
  if (range) await emptyCopied(app, range.fields, copied);
  else if (isCell) place.write(place.row, place.column, '');
}

/** Pastes cells from the first one of the range or the focused one on, and again into a range that is a multiple of them. */
export function pasteCells(
  app: App,
  event: ClipboardEvent,
  { row, column, field, write }: CopiedPlace,
): void {
  const text = event.clipboardData?.getData('text/plain') ?? '';
  if (text === '') return;
  event.preventDefault();
  const [[cell = '', ...others] = [], ...lines] = cellsOf(text);
  const { value: range } = app.cursor.range;
  if (range || others.length + lines.length > 0)
    void pasteBlock(app, range?.first ?? row, range?.fields[0] ?? field ?? 'title', text, range);
  else if (field) write(row, column, cell);
}

async function pasteBlock(
  app: App,
  row: number,
  field: Field,
  text: string,
  range: CellRange | undefined,
): Promise<void> {
  const { pasteQuestion, paste: yes, canBeUndone } = allTexts.value;
  const mayReplace = (count: number) =>
    app.dialogs.ask(formatMessage(pasteQuestion, { count }), yes, canBeUndone);
  const problem = await paste(app, row, field, text, mayReplace, range);
  if (!problem) return;
  const message = () => {
    const { rows, columns, year } = allTexts.value.pasteProblems;
    return problem.kind === 'year'
      ? formatMessage(year, { value: problem.value })
      : formatMessage(problem.kind === 'rows' ? rows : columns, { max: CELL_ROWS_MAX });
  };
  app.toasts.show({ text: message, isError: true });
}
