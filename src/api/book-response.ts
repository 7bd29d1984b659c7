import type { Book } from '../book/book.ts';
import type { HttpResult } from '../http/response.ts';

/** Shorter books are not counted, and are rendered as one string: there is memory for one on each connection. */
const LONG_BOOK_LENGTH = 16_384;

/** The bytes of memory that a book needs, as text or as a response that waits for its client; 0 when it is not counted. */
export function bytesOf({ title, author }: Book): number {
  const length = title.length + author.length;
  return length < LONG_BOOK_LENGTH ? 0 : 2 * length;
}

/** The content of a response with a book. A long one is rendered at once: bytes need half the memory of text, and no heap. */
export function contentOf(book: Book): Pick<HttpResult, 'data' | 'json'> {
  return bytesOf(book) === 0 ? { data: book } : { json: [Buffer.from(JSON.stringify(book))] };
}
