import type { FastifyReply, FastifyRequest } from 'fastify';
import { readBookId } from '../book/book.ts';
import type { Book } from '../book/contract.ts';
import { entityTag } from '../book/entity-tag.ts';
import type { OutcomeName } from '../http/outcomes.ts';
import { type HttpResult, send } from '../http/response.ts';

/** A hook of routes with an id: it rejects what no book can have as its id. */
export function expectBookId({ params }: FastifyRequest, reply: FastifyReply, pass: () => void): void {
  if (readBookId((params as { id: string }).id) === undefined) send(reply, { outcome: 'bookNotFound' });
  else pass();
}

/** The id in the path, after {@link expectBookId}. */
export function idInPath({ params }: FastifyRequest): number {
  return Number((params as { id: string }).id);
}

/** The result of a request for a book, with its entity tag. */
export function toBookResult(outcome: OutcomeName, book: Book, etag = entityTag(book)): HttpResult {
  return { outcome, data: book, headers: { etag } };
}

/** Attempts of a conditional write. One fails because a concurrent write has succeeded, or because a trigger leaves the write out. */
export const WRITE_ATTEMPTS_MAX = 100;
