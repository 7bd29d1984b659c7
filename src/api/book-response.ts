import type { Book } from '../book/book.ts';
import { entityTag } from '../book/entity-tag.ts';
import type { OutcomeName } from '../http/outcomes.ts';
import type { HttpResult } from '../http/response.ts';

/** The result of a request for a book, with its entity tag. */
export function toBookResult(outcome: OutcomeName, book: Book, etag = entityTag(book)): HttpResult {
  return { outcome, data: book, headers: { etag } };
}
