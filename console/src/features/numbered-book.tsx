import { formatMessage } from '../language/format.ts';
import { texts } from '../language/texts.ts';
import { BookText, YearText } from './book-text.tsx';
import { useApp } from './use-app.ts';

/** The book whose number is searched, above those whose texts match. */
export function NumberedBook() {
  const { found, dialogs } = useApp();
  const t = texts.value;
  const { value: book } = found.numbered;
  if (!book) return null;
  return (
    <button
      type="button"
      class="numbered-book note"
      onClick={() => dialogs.show({ kind: 'book', id: book.id })}
    >
      <span class="quiet">{formatMessage(t.number, { id: String(book.id) })}</span>
      <span class="lead">
        <BookText text={book.title} absent={t.noTitle} />
      </span>
      <BookText text={book.author} absent={t.noAuthor} />
      <YearText year={book.year} />
    </button>
  );
}
