import { BookText, YearText } from '../book/book-text.tsx';
import { formatMessage } from '../language/format.ts';
import { texts } from '../language/texts.ts';
import { show } from '../page/address.ts';
import { numberedBook } from './found-books.ts';

/** The book whose number is searched, above those whose texts match. */
export function NumberedBook() {
  const t = texts.value;
  const { value: book } = numberedBook;
  if (!book) return null;
  return (
    <button type="button" class="numbered-book" onClick={() => show({ book: book.id })}>
      <span class="quiet">{formatMessage(t.number, { id: String(book.id) })}</span>
      <span class="title">
        <BookText text={book.title} absent={t.noTitle} />
      </span>
      <BookText text={book.author} absent={t.noAuthor} />
      <YearText year={book.year} />
    </button>
  );
}
