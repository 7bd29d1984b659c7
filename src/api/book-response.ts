import type { FastifyReply } from 'fastify';
import type { Book } from '../book/book.ts';
import { entityTag } from '../book/entity-tag.ts';
import { type MemoryBudget, Reservation } from '../http/body/memory-budget.ts';
import type { OutcomeName } from '../http/outcomes.ts';
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

/**
 * The result of a request for a book. A long book reserves memory until the client has read it.
 *
 * @param unread the memory of responses that clients have not read yet
 */
export function toBookResult(
  outcome: OutcomeName,
  book: Book,
  reply: FastifyReply,
  unread: MemoryBudget,
  etag = entityTag(book),
): HttpResult {
  const bytes = bytesOf(book);
  const isReserved = bytes === 0 || new Reservation(unread, reply.raw).tryResize(bytes);
  return isReserved ? { outcome, ...contentOf(book), headers: { etag } } : { outcome: 'serviceUnavailable' };
}
