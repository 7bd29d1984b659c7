import type { Book, BookClient } from '../../../../src/client/index.ts';
import { RefusedError } from '../../../../src/client/index.ts';
import { keyOf } from './known-books.ts';

/** So many books are deleted at the same time, which leaves connections of the browser for others. */
const PARALLEL = 4;

/**
 * Deletes books as an import has stored them. Those that have been changed since stay.
 *
 * @param books the books that are left to be deleted: those that are done leave the set, so that it can go on after a fault
 * @param onDone is called after each book; with the book as it is now, when it stays
 * @throws what the client throws; the reason of the signal when it is aborted
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
  await Promise.all(Array.from({ length: PARALLEL }, work));
  if (fault !== undefined) throw fault;
}

/** @returns the book when it stays */
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
