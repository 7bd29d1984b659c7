import type { FastifyReply, FastifyRequest } from 'fastify';
import { readBookId } from '../book/book.ts';
import { send } from '../http/response.ts';

/** A hook of routes with an id: it rejects what no book can have as its id. */
export function expectBookId({ params }: FastifyRequest, reply: FastifyReply, pass: () => void): void {
  if (readBookId((params as { id: string }).id) === undefined) send(reply, { outcome: 'bookNotFound' });
  else pass();
}

/** The id in the path, after {@link expectBookId}. */
export function idInPath({ params }: FastifyRequest): number {
  return Number((params as { id: string }).id);
}
