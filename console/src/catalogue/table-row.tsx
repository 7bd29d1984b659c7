import type { ComponentChildren } from 'preact';
import type { Book } from '../../../src/client/index.ts';
import { BookText, YearText } from '../book/book-text.tsx';
import { visibleText } from '../book/visible-text.ts';
import { formatMessage } from '../language/format.ts';
import { texts } from '../language/texts.ts';
import { show, view, writeView } from '../page/address.ts';
import { clearSelection, failures, isSelected, selectAll, selectedCount } from '../selection/selection.ts';
import { total } from './catalogue.ts';
import { openEdit, withSaving } from './cell-edit.ts';
import { CellEditor } from './cell-editor.tsx';
import { ColumnEdge } from './column-width.tsx';
import { COLUMNS, directionOf, nextSort, type Sort } from './sort.ts';

/** The cells of a row, in order. */
export const CELLS = ['select', ...COLUMNS] as const;
type CellName = (typeof CELLS)[number];

interface CellProps {
  readonly name: CellName;
  readonly row: RowProps;
  readonly children?: ComponentChildren;
}

interface RowProps {
  readonly index: number;
  readonly top: number;
  readonly book: Book | undefined;
  /** The cell that Tab moves the focus to, if it is in this row. */
  readonly activeColumn: number | undefined;
  readonly onClick: (event: MouseEvent) => void;
  readonly onEdit: (column: number) => void;
  readonly onEditorKey: (event: KeyboardEvent) => void;
}

/** A book, or a placeholder while it is loaded. */
export function TableRow(row: RowProps) {
  const t = texts.value;
  const { index, top, onClick } = row;
  const book = row.book && withSaving(row.book);
  const failure = book && failures.value.get(book.id);
  return (
    <div
      role="row"
      class={`row ${book ? '' : 'loading'} ${failure ? 'failed' : ''}`}
      aria-rowindex={index + 2}
      aria-selected={book ? isSelected(book) : false}
      data-index={index}
      style={{ transform: `translateY(${top}px)` }}
      // A click with Shift selects rows, not text.
      onMouseDown={(event) => event.shiftKey && event.preventDefault()}
      onClick={onClick}
      onDblClick={({ target }) => {
        const column =
          Number((target as Element).closest('[aria-colindex]')?.getAttribute('aria-colindex')) - 1;
        if (column > CELLS.indexOf('id')) row.onEdit(column);
      }}
    >
      <Cell name="select" row={row}>
        {book && (
          <input
            type="checkbox"
            tabIndex={row.activeColumn === CELLS.indexOf('select') ? 0 : -1}
            checked={isSelected(book)}
            aria-label={formatMessage(t.selectBook, { title: visibleText(book.title) || t.noTitle })}
          />
        )}
      </Cell>
      <Cell name="id" row={row}>
        {book && (
          <a
            href={writeView({ ...view.value, book: book.id })}
            tabIndex={row.activeColumn === CELLS.indexOf('id') ? 0 : -1}
            aria-label={formatMessage(t.number, { id: book.id })}
            onClick={(event) => {
              if (event.ctrlKey || event.metaKey || event.shiftKey) return;
              event.preventDefault();
              event.stopPropagation();
              show({ book: book.id });
            }}
          >
            {book.id}
          </a>
        )}
      </Cell>
      <Cell name="title" row={row}>
        {book && <BookText text={book.title} absent={t.noTitle} />}
      </Cell>
      <Cell name="author" row={row}>
        {book && <BookText text={book.author} absent={t.noAuthor} />}
      </Cell>
      <Cell name="year" row={row}>
        {book && <YearText year={book.year} />}
      </Cell>
    </div>
  );
}

/** A cell. If it has a control, that is focused instead. */
function Cell({ name, row: { book, activeColumn, onEditorKey }, children }: CellProps) {
  const column = CELLS.indexOf(name);
  const edit = openEdit(book, name);
  const hasControl = edit || (book && (name === 'select' || name === 'id'));
  return (
    <div
      role="gridcell"
      class={`cell ${name} ${edit ? 'editing' : ''}`}
      aria-colindex={column + 1}
      tabIndex={hasControl ? undefined : column === activeColumn ? 0 : -1}
    >
      {edit ? <CellEditor edit={edit} onKeyDown={onEditorKey} /> : children}
    </div>
  );
}

interface HeadProps {
  readonly sort: Sort;
  readonly activeColumn: number | undefined;
}

/** The names of the columns; a click sorts by the column. */
export function TableHead({ sort, activeColumn }: HeadProps) {
  const t = texts.value;
  const count = selectedCount.value;
  return (
    <div role="rowgroup" class="head">
      <div role="row" class="row" aria-rowindex={1}>
        <div role="columnheader" class="cell select" aria-colindex={1}>
          <label>
            <input
              type="checkbox"
              tabIndex={activeColumn === 0 ? 0 : -1}
              checked={count > 0 && count === total.value}
              indeterminate={count > 0 && count !== total.value}
              aria-label={t.selectAll}
              onClick={() => (count > 0 ? clearSelection() : selectAll())}
            />
          </label>
        </div>
        {COLUMNS.map((column, index) => {
          const direction = directionOf(column, sort);
          return (
            <div
              key={column}
              role="columnheader"
              class={`cell ${column}`}
              aria-colindex={index + 2}
              aria-label={t.columns[column]}
              aria-sort={direction}
            >
              <button
                type="button"
                tabIndex={activeColumn === index + 1 ? 0 : -1}
                onClick={() => show({ sort: nextSort(column, sort) })}
              >
                {t.columns[column]}
                {direction !== 'none' && (
                  <span aria-hidden="true">{direction === 'ascending' ? '↑' : '↓'}</span>
                )}
              </button>
              {column !== 'title' && <ColumnEdge column={column} />}
            </div>
          );
        })}
      </div>
    </div>
  );
}
