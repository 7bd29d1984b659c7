import type { Field } from 'bookkeeping-formats/row.ts';
import { formatMessage } from '../../language/format.ts';
import { allTexts } from '../../language/texts.ts';
import type { App } from '../../state/app.ts';
import { cellsOf, copiedText, PASTED_ROWS_MAX, paste, textOf } from '../../state/paste.ts';

/** The focused cell. */
export interface CopiedPlace {
  readonly row: number;
  readonly column: number;
  /** Undefined in a column that cannot be edited. */
  readonly field: Field | undefined;
  /** Replaces the text of a cell. */
  readonly write: (row: number, column: number, text: string) => void;
}

/** Copies the selected books or, if none is selected, the text of the focused cell. */
export function copyCells({ list, selection, toasts }: App, event: ClipboardEvent, place: CopiedPlace): void {
  const book = list.at(place.row);
  const books = selection.loaded();
  event.preventDefault();
  if (books.length < selection.count.value)
    toasts.show({ text: () => allTexts.value.tooManyToCopy, isError: true });
  else if (books.length > 0) event.clipboardData?.setData('text/plain', textOf(books));
  else if (book) event.clipboardData?.setData('text/plain', copiedText(book, place.field ?? 'title'));
}

/** Pastes cells from the focused one on. */
export function pasteCells(
  app: App,
  event: ClipboardEvent,
  { row, column, field, write }: CopiedPlace,
): void {
  const text = event.clipboardData?.getData('text/plain') ?? '';
  if (text === '') return;
  event.preventDefault();
  const [[cell = '', ...others] = [], ...lines] = cellsOf(text);
  if (others.length + lines.length > 0) void pasteBlock(app, row, field ?? 'title', text);
  else if (field) write(row, column, cell);
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
      : formatMessage(problem.kind === 'rows' ? rows : columns, { max: PASTED_ROWS_MAX });
  };
  app.toasts.show({ text: message, isError: true });
}
