import type { Book } from '../../../src/client/index.ts';
import { BookText, YearText } from '../book/book-text.tsx';
import { texts } from '../language/texts.ts';
import { show } from '../page/address.ts';
import { ColumnEdge } from './column-width.tsx';
import { COLUMNS, directionOf, nextSort, type Sort } from './sort.ts';

interface RowProps {
  readonly index: number;
  readonly top: number;
  readonly book: Book | undefined;
  readonly isActive: boolean;
  /** Whether the books before it are not shown. */
  readonly isAfterGap: boolean;
  readonly onFocus: () => void;
}

/** A book, or a placeholder while it is loaded. */
export function TableRow({ index, top, book, isActive, isAfterGap, onFocus }: RowProps) {
  const t = texts.value;
  return (
    <div
      role="row"
      class={`row ${book ? '' : 'loading'} ${isAfterGap ? 'after-gap' : ''}`}
      aria-rowindex={index + 2}
      data-index={index}
      tabIndex={isActive ? 0 : -1}
      style={{ transform: `translateY(${top}px)` }}
      onFocus={onFocus}
      onClick={() => book && show({ book: book.id })}
    >
      <div role="gridcell" class="cell id">
        {book?.id}
      </div>
      <div role="gridcell" class="cell title">
        {book && <BookText text={book.title} absent={t.noTitle} />}
      </div>
      <div role="gridcell" class="cell author">
        {book && <BookText text={book.author} absent={t.noAuthor} />}
      </div>
      <div role="gridcell" class="cell year">
        {book && <YearText year={book.year} />}
      </div>
    </div>
  );
}

/** The names of the columns; a click sorts by the column. */
export function TableHead({ sort }: { sort: Sort }) {
  const t = texts.value;
  return (
    <div role="rowgroup" class="head">
      <div role="row" class="row" aria-rowindex={1}>
        {COLUMNS.map((column) => {
          const direction = directionOf(column, sort);
          return (
            <div key={column} role="columnheader" class={`cell ${column}`} aria-sort={direction}>
              <button type="button" onClick={() => show({ sort: nextSort(column, sort) })}>
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
