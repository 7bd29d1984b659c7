import type { BookFields } from 'bookkeeping-client/index.ts';
import type { BookRow } from 'bookkeeping-formats/book-row.ts';
import { textLengthOf } from 'bookkeeping-formats/row.ts';

/** Books that one request stores, all or none. */
export interface Batch {
  readonly books: readonly BookFields[];
  readonly firstLine: number;
  readonly lastLine: number;
}

/** Stored within some hundredths of a second, which is how long a cancellation may take. */
const BATCH_BOOKS_MAX = 1_000;

/** In UTF-16 code units. The service accepts 16 MiB, but many proxies limit a request to 1 MB. */
const BATCH_LENGTH_MAX = 300_000;

/**
 * Groups the valid rows of a file.
 *
 * @param skipped the number of valid rows at the beginning that are already stored
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
    const bookLength = textLengthOf(book);
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
