import type { Book, BookFields } from 'bookkeeping-client/index.ts';
import { EMPTY_BOOK, FIELDS, type Field } from 'bookkeeping-formats/row.ts';
import { formatMessage } from '../../language/format.ts';
import { allTexts, explain } from '../../language/texts.ts';
import type { App } from '../../state/app.ts';
import type { Change } from '../../state/book-list.ts';
import { CELLS, type CellRange } from '../../state/cursor.ts';
import { isSame } from '../../state/fields.ts';
import { CELL_ROWS_MAX, loadedRows, readRows, textOf } from '../../state/paste.ts';

/**
 * Copies the cells of a range; those that are not loaded are read first, if the browser lets the page write to the clipboard later.
 *
 * @returns the books whose cells it has copied
 */
export async function copyRange(
  app: App,
  event: ClipboardEvent,
  { first, last, fields }: CellRange,
): Promise<readonly Book[]> {
  if (isTooLong(app, first, last)) return [];
  const loaded = loadedRows(app.list, first, last);
  if (!loaded) return copyLater(app, { first, last, fields });
  event.clipboardData?.setData('text/plain', textOf(loaded, fields));
  return loaded;
}

async function copyLater(
  { list, toasts }: App,
  { first, last, fields }: CellRange,
): Promise<readonly Book[]> {
  let books: readonly Book[] = [];
  const read = async () => {
    books = await readRows(list, first, last);
    return new Blob([textOf(books, fields)], { type: 'text/plain' });
  };
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': read() })]);
    const count = books.length * fields.length;
    toasts.show({ text: () => formatMessage(allTexts.value.cellsCopied, { count }) });
    return books;
  } catch {
    // Without TLS there is no such clipboard.
    toasts.show({ text: () => allTexts.value.tooManyToCopy, isError: true });
    return [];
  }
}

/**
 * Fills the range with the cells of its first rows; those of a single row, or the active cell, with the ones above.
 *
 * @param rows the number of first rows, which are repeated
 */
export async function fillDown(app: App, rows = 1): Promise<void> {
  const { range, active } = app.cursor;
  const { row, column } = active.value;
  const { first, last, fields } = range.value ?? {
    first: row,
    last: row,
    fields: FIELDS.filter((field) => CELLS[column] === field),
  };
  await write(
    app,
    { first: first === last ? Math.max(0, first - 1) : first, last, fields },
    (books, index) => books[index % rows],
  );
}

/** Empties the cells of the range. */
export async function emptyCells(app: App): Promise<void> {
  const { value: range } = app.cursor.range;
  if (range) await write(app, range, () => EMPTY_BOOK);
}

/** Empties cells that were copied. What was changed since then is in no clipboard, and stays. */
export async function emptyCopied(
  { operations }: App,
  fields: readonly Field[],
  books: readonly Book[],
): Promise<void> {
  await operations.run(
    'edited',
    writtenCells(books, fields, () => EMPTY_BOOK),
  );
}

/** Gets the books of a range, and the index of one of them. */
type ValuesOf = (books: readonly Book[], index: number) => BookFields | undefined;

/** Writes fields of all books of a range, as one operation. */
async function write(app: App, { first, last, fields }: CellRange, valuesOf: ValuesOf): Promise<void> {
  const { list, operations, toasts } = app;
  if (isTooLong(app, first, last)) return;
  try {
    const books = await readRows(list, first, last);
    await operations.run('edited', () => {
      // What was typed just before is stored by then.
      const loaded = list.loaded.byId();
      return writtenCells(
        books.map((book) => loaded.get(book.id) ?? book),
        fields,
        valuesOf,
      );
    });
  } catch (error) {
    toasts.show({ text: () => explain(error), isError: true });
  }
}

function writtenCells(
  books: readonly Book[],
  fields: readonly Field[],
  valuesOf: ValuesOf,
): readonly Change[] {
  return books
    .map((before, index) => {
      const values = valuesOf(books, index) ?? before;
      const written = Object.fromEntries(fields.map((field) => [field, values[field]]));
      return { before, after: { ...before, ...written } };
    })
    .filter(({ before, after }) => !isSame(before, after));
}

/** Whether a range has too many rows. If so, a message tells the user. */
function isTooLong({ toasts }: App, first: number, last: number): boolean {
  const isMore = last - first >= CELL_ROWS_MAX;
  if (isMore)
    toasts.show({
      text: () => formatMessage(allTexts.value.longRange, { max: CELL_ROWS_MAX }),
      isError: true,
    });
  return isMore;
}
