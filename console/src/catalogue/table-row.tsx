import type { Book } from '../../../src/client/index.ts';
import { YearText } from '../book/book-text.tsx';
import { formatNumber, texts } from '../language/language.ts';
import { show } from '../page/address.ts';
import { ShownText } from './shown-text.tsx';

interface RowParts {
  readonly index: number;
  /** Where it stands among the rows, in pixels. */
  readonly top: number;
  /** Undefined as long as it has not come. */
  readonly book: Book | undefined;
  readonly isActive: boolean;
  /** Whether books that are not shown stand in front of it. */
  readonly isBehindGap: boolean;
  readonly onFocus: () => void;
}

/** A book, or the place of one that is on its way. */
export function TableRow({ index, top, book, isActive, isBehindGap, onFocus }: RowParts) {
  const t = texts.value;
  return (
    <div
      role="row"
      class={`row ${book ? '' : 'coming'} ${isBehindGap ? 'behind-gap' : ''}`}
      aria-rowindex={index + 2}
      data-index={index}
      tabIndex={isActive ? 0 : -1}
      style={{ transform: `translateY(${top}px)` }}
      onFocus={onFocus}
      onClick={() => book && show({ book: book.id })}
    >
      <div role="gridcell" class="cell id">
        {book && formatNumber(book.id)}
      </div>
      <div role="gridcell" class="cell title">
        {book && <ShownText text={book.title} absent={t.noTitle} />}
      </div>
      <div role="gridcell" class="cell author">
        {book && <ShownText text={book.author} absent={t.noAuthor} />}
      </div>
      <div role="gridcell" class="cell year">
        {book && <YearText year={book.year} />}
      </div>
    </div>
  );
}
