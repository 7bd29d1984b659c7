import type { BookFields } from '../../../../src/client/index.ts';
import type { BookRow } from '../../../../src/formats/book-row.ts';

/** Books that are stored in one step, all or none of them. */
export interface Batch {
  readonly books: readonly BookFields[];
  /** Where in the file the first and the last of them begin. */
  readonly firstLine: number;
  readonly lastLine: number;
}

/** So many books are stored in some hundredths of a second: what a person who cancels waits for. */
const BATCH_BOOKS_MAX = 1_000;

/** … and so much text. The service takes 16 MiB at a time, but a proxy in front of it often takes 1 MB. */
const BATCH_LENGTH_MAX = 300_000;

/**
 * Gathers the good rows of a file.
 *
 * @param skipped how many of them are left out, as they have been stored before
 */
export async function* batchesOf(rows: AsyncIterable<BookRow>, skipped: number): AsyncGenerator<Batch, void> {
  let books: BookFields[] = [];
  let length = 0;
  let firstLine = 0;
  let lastLine = 0;
  let left = skipped;
  for await (const row of rows) {
    if (!('book' in row) || left-- > 0) continue;
    const { line, book } = row;
    const bookLength = book.title.length + book.author.length;
    if (books.length === BATCH_BOOKS_MAX || (books.length > 0 && length + bookLength > BATCH_LENGTH_MAX)) {
      yield { books, firstLine, lastLine };
      books = [];
      length = 0;
    }
    if (books.length === 0) firstLine = line;
    lastLine = line;
    length += bookLength;
    books.push(book);
  }
  if (books.length > 0) yield { books, firstLine, lastLine };
}
