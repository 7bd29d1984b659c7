import { useSignal } from '@preact/signals';
import type { Book } from 'bookkeeping-client/index.ts';
import { FIELDS } from 'bookkeeping-formats/row.ts';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { formatMessage } from '../../language/format.ts';
import { formatYear, texts } from '../../language/texts.ts';
import { CELLS, type CellName, TITLE } from '../../state/cursor.ts';
import { COLUMNS, directionOf, nextSort } from '../../state/sort.ts';
import { writeView } from '../../state/view.ts';
import { visibleText } from '../../ui/visible-text.ts';
import { BookText, YearText } from '../book-text.tsx';
import { later } from '../later-code.ts';
import { useApp } from '../use-app.ts';
import type { EditorMoves } from './cells.ts';

interface CellProps {
  readonly name: CellName;
  readonly row: RowProps;
  /** What the cell of a field shows. */
  readonly text?: string | undefined;
  readonly children?: ComponentChildren;
}

interface RowProps {
  readonly index: number;
  readonly top: number;
  readonly book: Book | undefined;
  /** A new book, which is typed or being saved. */
  readonly draft: Book | undefined;
  /** Whether it is the empty row after the last book. */
  readonly isNew: boolean;
  /** The cell that Tab moves the focus to, if it is in this row. */
  readonly activeColumn: number | undefined;
  readonly onClick: (event: MouseEvent) => void;
  readonly onEdit: (column: number, text?: string) => void;
  readonly moves: EditorMoves;
}

/** A book, a placeholder while it is loaded, or the place of a new book. */
export function TableRow(row: RowProps) {
  const { cells, selection, address } = useApp();
  const t = texts.value;
  const { index, top, isNew, onClick } = row;
  const book = row.book && cells.shown(row.book);
  const shown = row.draft ?? book;
  const failure = book && selection.failures.value.get(book.id);
  const tabIndexOf = (name: CellName) => (row.activeColumn === CELLS.indexOf(name) ? 0 : -1);
  const href = writeView({ ...address.view.value, book: book?.id });
  return (
    <div
      role="row"
      class={`row ${isNew ? 'new' : shown ? '' : 'loading'} ${failure ? 'failed' : ''}`}
      aria-rowindex={index + 2}
      aria-selected={book ? selection.has(book) : false}
      data-index={index}
      style={{ transform: `translateY(${top}px)` }}
      onClick={onClick}
      onDblClick={({ target }) => {
        const cell = (target as Element).closest('[aria-colindex]:not(.editing)');
        const column = Number(cell?.getAttribute('aria-colindex')) - 1;
        if (column >= TITLE) row.onEdit(column);
      }}
    >
      <Cell name="select" row={row}>
        {book && (
          <input
            type="checkbox"
            tabIndex={tabIndexOf('select')}
            checked={selection.has(book)}
            aria-label={formatMessage(t.selectBook, { title: visibleText(book.title) || t.noTitle })}
          />
        )}
      </Cell>
      <Cell name="id" row={row}>
        {book && (
          <a
            href={href}
            tabIndex={tabIndexOf('id')}
            aria-label={formatMessage(t.number, { id: String(book.id) })}
          >
            {book.id}
          </a>
        )}
      </Cell>
      <Cell name="title" row={row} text={shown ? shown.title || t.noTitle : t.newBook}>
        {shown && <BookText text={shown.title} absent={t.noTitle} />}
        {isNew && !shown && <span class="absent">{t.newBook}</span>}
        {book && (
          // Without text, which is not a part of the title.
          <button
            type="button"
            class="open button ghost"
            tabIndex={-1}
            contenteditable={false}
            aria-label={t.open}
            data-text={t.open}
          />
        )}
      </Cell>
      <Cell name="author" row={row} text={shown?.author || (isNew ? '' : t.noAuthor)}>
        {shown && <BookText text={shown.author} absent={isNew ? '' : t.noAuthor} />}
      </Cell>
      <Cell name="year" row={row} text={shown && formatYear(shown.year)}>
        {shown && <YearText year={shown.year} />}
      </Cell>
    </div>
  );
}

/** A cell. The control of the first two is focused instead, and so is an editor. */
function Cell({ name, row, text = '', children }: CellProps) {
  const { index, book, draft, isNew, activeColumn, moves } = row;
  const { cells, cursor, session, isTouched } = useApp();
  const { value: code } = later;
  const column = CELLS.indexOf(name);
  const id = isNew ? 'new' : book?.id;
  const edit = cells.of(id, name);
  const isSaving = !isNew && (draft ? column >= TITLE : cells.isSaving(id, name));
  const hasControl = book !== undefined && (name === 'select' || name === 'id');
  const { row: cornerRow, column: cornerColumn } = cursor.corner.value;
  const isCorner = column >= TITLE && index === cornerRow && column === cornerColumn;
  const field = FIELDS.find((each) => each === name);
  const isTypable =
    field !== undefined &&
    column === activeColumn &&
    (isNew || book !== undefined) &&
    !edit &&
    code !== undefined &&
    !session.isReadOnly.value &&
    !isTouched.value;
  const isComposing = useSignal(false);
  const isNamed = isTypable && !isComposing.value;
  const element = useRef<HTMLDivElement>(null);
  const hadFocus = element.current?.contains(document.activeElement);
  useLayoutEffect(() => {
    // The control comes and goes with the book, which is loaded or deleted while its cell has the focus.
    const focusable = element.current?.querySelector<HTMLElement>('a, input') ?? element.current;
    if (hadFocus) focusable?.focus({ preventScroll: true });
  }, [hasControl]);
  return (
    <div
      ref={element}
      role="gridcell"
      class={`cell ${name} ${edit ? 'editing' : ''} ${isSaving ? 'saving' : ''}`}
      title={isSaving ? texts.value.saving : undefined}
      aria-colindex={column + 1}
      // Browsers take the content of an editable element for its value, and not for its name.
      aria-label={isNamed ? visibleText(text) || texts.value.columns[field] : undefined}
      // Absent in the others, which screen readers would call “not selected” one by one.
      aria-selected={cursor.has(index, name) || undefined}
      contenteditable={isTypable ? 'plaintext-only' : undefined}
      spellcheck={isTypable ? false : undefined}
      tabIndex={(edit && code) || hasControl ? undefined : column === activeColumn ? 0 : -1}
    >
      {edit && code ? <code.CellEditor edit={edit} moves={moves} /> : children}
      {isTypable && code && (
        <code.TypedText
          isComposing={isComposing}
          onText={(typed) => row.onEdit(column, typed)}
          onLeft={(typed) => {
            cells.edit(book, field, typed);
            // The cells of a new one are saved together.
            if (book) cells.save();
          }}
        />
      )}
      {isCorner && book && code && !edit && !session.isReadOnly.value && (
        <span class="fill-handle" aria-hidden="true" />
      )}
    </div>
  );
}

/** The names of the columns; a click sorts by the column. */
export function TableHead() {
  const { address, list, selection } = useApp();
  const { value: code } = later;
  const t = texts.value;
  const { sort } = address.view.value;
  const count = selection.count.value;
  return (
    <div role="rowgroup" class="head">
      <div role="row" class="row" aria-rowindex={1}>
        <div role="columnheader" class="cell select" aria-colindex={1}>
          <label>
            <input
              type="checkbox"
              checked={count > 0 && count === list.total.value}
              indeterminate={count > 0 && count !== list.total.value}
              aria-label={t.selectAll}
              onClick={() => (count > 0 ? selection.clear() : selection.all())}
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
              <button type="button" onClick={() => address.show({ sort: nextSort(column, sort) })}>
                {t.columns[column]}
                {direction !== 'none' && (
                  <span aria-hidden="true">{direction === 'ascending' ? '↑' : '↓'}</span>
                )}
              </button>
              {(column === 'author' || column === 'year') && code && <code.Divider column={column} />}
            </div>
          );
        })}
      </div>
    </div>
  );
}
