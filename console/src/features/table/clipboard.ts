import type { Field } from 'bookkeeping-formats/row.ts';
import { formatMessage } from '../../language/format.ts';
import { allTexts } from '../../language/texts.ts';
import type { App } from '../../state/app.ts';
import type { CellRange } from '../../state/cursor.ts';
import { CELL_ROWS_MAX, cellsOf, copiedText, paste, textOf } from '../../state/paste.ts';
import { copyRange } from './cell-range.ts';

/** The focused cell. */
export interface CopiedPlace {
  readonly row: number;
  readonly column: number;
  /** Undefined in a column that cannot be edited. */
  readonly field: Field | undefined;
  /** Replaces the text of a cell. */
  readonly write: (row: number, column: number, text: string) => void;
}

/** Copies the range or, if there is none, the selected books or, if none is selected, the text of the focused cell. */
export function copyCells(app: App, event: ClipboardEvent, place: CopiedPlace): void {
  const { list, selection, cursor, toasts } = app;
  const book = list.at(place.row);
  const books = selection.loaded();
  event.preventDefault();
  const { value: range } = cursor.range;
  if (range) copyRange(app, event, range);
  else if (books.length < selection.count.value)
    toasts.show({ text: () => allTexts.value.tooManyToCopy, isError: true });
  else if (books.length > 0) event.clipboardData?.setData('text/plain', textOf(books));
  else if (book) event.clipboardData?.setData('text/plain', copiedText(book, place.field ?? 'title'));
}

/** Pastes cells from the first one of the range or the focused one on; a single one into all cells of the range. */
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
  const [first] = range?.fields ?? [];
  if (range && first) {
    const isSingle = others.length + lines.length === 0;
    void pasteBlock(app, range.first, first, isSingle ? repeatCell(text, range) : text);
  } else if (others.length + lines.length > 0) void pasteBlock(app, row, field ?? 'title', text);
  else if (field) write(row, column, cell);
}

/** The text of a cell, for each cell of a range. */
function repeatCell(text: string, { first, last, fields }: CellRange): string {
  const cell = text.replace(/(?:\r\n|\r|\n)$/, '');
  const line = Array.from(fields, () => cell).join('\t');
  return Array.from({ length: last - first + 1 }, () => line).join('\n');
}

async function pasteBlock(app: App, row: number, field: Field, text: string): Promise<void> {
  const { pasteQuestion, paste: yes, canBeUndone } = allTexts.value;
  const mayReplace = (count: number) =>
    app.dialogs.ask(formatMessage(pasteQuestion, { count }), yes, canBeUndone);
  const problem = await paste(app, row, field, text, mayReplace);
  if (!problem) return;
  const message = () => {
    const { rows, columns, year } = allTexts.value.pasteProblems;
    return problem.kind === 'year'
      ? formatMessage(year, { value: problem.value })
      : formatMessage(problem.kind === 'rows' ? rows : columns, { max: CELL_ROWS_MAX });
  };
  app.toasts.show({ text: message, isError: true });
}
