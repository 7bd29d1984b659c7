import { type Book, type BookClient, RefusedError } from '../../../../src/client/index.ts';
import { keyOf } from './existing-books.ts';

/** Deletions in flight; browsers open 6 connections, and other calls need some. */
const CONCURRENCY = 4;

/**
 * Deletes the books that an import has stored, except those that have been changed since.
 *
 * @param books are removed from the set when they are done, so that the undo can continue after an error
 * @param onDone is called for each book, with its current version when it is kept
 */
export async function deleteUnchanged(
  books: Set<Book>,
  client: Pick<BookClient, 'find' | 'delete'>,
  onDone: (kept: Book | undefined) => void,
  signal: AbortSignal,
): Promise<void> {
  const queue = books.values();
  let firstError: unknown;
  const work = async () => {
    for (const book of queue) {
      if (firstError !== undefined) return;
      try {
        const kept = await deleteOne(book, client, signal);
        books.delete(book);
        onDone(kept);
      } catch (error) {
        firstError ??= error;
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  if (firstError !== undefined) throw firstError;
}

/** @returns the current version when the book is kept */
async function deleteOne(
  book: Book,
  client: Pick<BookClient, 'find' | 'delete'>,
  signal: AbortSignal,
): Promise<Book | undefined> {
  const current = await client.find(book.id, { signal });
  if (!current) return undefined;
  if (keyOf(current) !== keyOf(book) || current.etag === undefined) return current;
  try {
    await client.delete(book.id, { signal, ifMatch: current.etag });
    return undefined;
  } catch (error) {
    if (!(error instanceof RefusedError && error.status === 412)) throw error;
    return client.find(book.id, { signal });
  }
}
