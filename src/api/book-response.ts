import { createHash, hash } from 'node:crypto';
import type { Book } from '../book/book.ts';
import type { HttpResult } from '../http/response.ts';

/** Shorter books are not counted, and are hashed and rendered as one string: there is memory for one on each connection. */
const LONG_BOOK_LENGTH = 16_384;

/** 22 digits of base64 are 132 bits, enough that no two versions of a book have the same tag. */
const TAG_DIGITS = 22;

/** The strong entity tag of a book (RFC 9110, section 8.8.3), which changes with each of its fields. */
export function entityTag({ id, title, author, year }: Book): string {
  const start = `${id} ${year} ${title.length} `;
  const isLong = title.length + author.length > LONG_BOOK_LENGTH;
  const digest = isLong
    ? createHash('sha256').update(start).update(title).update(author).digest('base64url')
    : hash('sha256', start + title + author, 'base64url');
  return `"${digest.slice(0, TAG_DIGITS)}"`;
}

/** The bytes of memory that a book needs, as text or as a response that waits for its client; 0 when it is not counted. */
export function bytesOf({ title, author }: Book): number {
  const length = title.length + author.length;
  return length < LONG_BOOK_LENGTH ? 0 : 2 * length;
}

/** The content of a response with a book. A long one is rendered at once: bytes need half the memory of text, and no heap. */
export function contentOf(book: Book): Pick<HttpResult, 'data' | 'json'> {
  return bytesOf(book) === 0 ? { data: book } : { json: [Buffer.from(JSON.stringify(book))] };
}
