import type { Book, BookClient } from '../../../../src/client/index.ts';
import type { Batch } from './batches.ts';
import { keyOf } from './known-books.ts';

/** The highest id that the service has given to a book that is still there; 0 when there is none. */
export async function highestId(client: Pick<BookClient, 'list'>): Promise<number> {
  for await (const { id } of client.list({ sort: '-id', limit: 1 })) return id;
  return 0;
}

/**
 * Looks for the books of a batch among those that have come since it was sent. A batch is stored as a whole or not at all,
 * so it is there when most of its books are: others may have changed or deleted some by now.
 *
 * @param above an id below those of the batch, which was known before it was sent
 * @returns the books as they are stored; none when the batch is not there
 */
export async function findStored(
  { books }: Batch,
  above: number,
  client: Pick<BookClient, 'list'>,
): Promise<readonly Book[]> {
  const awaited = new Map<string, number>();
  for (const book of books) awaited.set(keyOf(book), (awaited.get(keyOf(book)) ?? 0) + 1);
  const found: Book[] = [];
  for await (const book of client.list({ sort: '-id', limit: PAGE_BOOKS })) {
    if (book.id <= above) break;
    const count = awaited.get(keyOf(book)) ?? 0;
    if (count === 0) continue;
    awaited.set(keyOf(book), count - 1);
    found.push(book);
  }
  return found.length > books.length / 2 ? found : [];
}

/** As many as a batch has, so that one page tells in most cases. */
const PAGE_BOOKS = 1_000;
