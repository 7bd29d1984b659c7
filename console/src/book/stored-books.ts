import {
  type Book,
  type BookClient,
  type BookFields,
  RefusedError,
  type VersionedBook,
} from '../../../src/client/index.ts';
import { FIELDS } from '../../../src/formats/row.ts';
import { isSame } from './fields.ts';

/** Calls in flight; browsers open 6 connections, and other calls need some. */
const CONCURRENCY = 4;

/** What became of a book: `changed` and `missing` books were changed or deleted by another user, and are left as they are. */
export type Outcome =
  | { readonly kind: 'done' | 'changed'; readonly book: Book }
  | { readonly kind: 'missing' };

/**
 * Works on books, a few at a time, until all are done, an error is thrown or `stop` is aborted.
 *
 * @param books are removed from the set when they are done, so that the work can continue later
 */
export async function forEachBook<Result>(
  books: Set<Book>,
  work: (book: Book) => Promise<Result>,
  onDone: (result: Result, book: Book) => void,
  stop: AbortSignal,
): Promise<void> {
  const queue = books.values();
  const errors: unknown[] = [];
  const workInTurn = async () => {
    for (const book of queue) {
      if (errors.length > 0 || stop.aborted) return;
      try {
        const result = await work(book);
        books.delete(book);
        onDone(result, book);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, workInTurn));
  if (errors.length > 0) throw errors[0];
}

/** Deletes a book, unless it has been changed since it was read. */
export async function deleteIfUnchanged(
  book: Book,
  client: Pick<BookClient, 'find' | 'delete'>,
  signal: AbortSignal,
): Promise<Outcome> {
  const current = await client.find(book.id, { signal });
  if (!current) return { kind: 'missing' };
  if (!isSame(current, book) || current.etag === undefined) return { kind: 'changed', book: current };
  try {
    await client.delete(book.id, { ifMatch: current.etag });
    return { kind: 'done', book };
  } catch (error) {
    if (!isOutdated(error)) throw error;
    return outcomeOf('changed', await client.find(book.id, { signal }));
  }
}

/** Changes fields of a book, unless another user has changed them since it was read; changes of other fields are kept. */
export async function changeIfUnchanged(
  book: Book,
  changes: Partial<BookFields>,
  client: Pick<BookClient, 'find' | 'update'>,
  signal: AbortSignal,
): Promise<Outcome> {
  const fields = FIELDS.filter((field) => field in changes);
  for (;;) {
    const current = await client.find(book.id, { signal });
    if (!current) return { kind: 'missing' };
    if (fields.every((field) => current[field] === changes[field])) return { kind: 'done', book: current };
    if (fields.some((field) => current[field] !== book[field])) return { kind: 'changed', book: current };
    try {
      return outcomeOf('done', await client.update(book.id, changes, { ifMatch: current.etag ?? '*' }));
    } catch (error) {
      // Other fields may have been changed since.
      if (!isOutdated(error)) throw error;
    }
  }
}

function outcomeOf(kind: 'done' | 'changed', book: VersionedBook | undefined): Outcome {
  return book ? { kind, book } : { kind: 'missing' };
}

/** Whether a version in `If-Match` is no longer the current one. */
function isOutdated(error: unknown): boolean {
  return error instanceof RefusedError && error.status === 412;
}
