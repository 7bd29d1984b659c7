import { type Book, type BookClient, RefusedError } from '../../../../src/client/index.ts';
import { keyOf } from './known-books.ts';

/** How many books are deleted concurrently; browsers open 6 connections, and others need some. */
const CONCURRENCY = 4;

/**
 * Deletes the books that an import has stored, except those that have been changed since.
 *
 * @param books those to delete; what is done is removed from the set, so that the undo can continue after an error
 * @param onDone is called for each book; with its current version when it is kept
 */
export async function deleteUnchanged(
  books: Set<Book>,
  client: Pick<BookClient, 'find' | 'delete'>,
  onDone: (kept: Book | undefined) => void,
  signal: AbortSignal,
): Promise<void> {
  const queue = books.values();
  let fault: unknown;
  const work = async () => {
    for (const book of queue) {
      if (fault !== undefined) return;
      try {
        const kept = await deleteOne(book, client, signal);
        books.delete(book);
        onDone(kept);
      } catch (error) {
        fault ??= error;
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  if (fault !== undefined) throw fault;
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
