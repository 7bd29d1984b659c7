import type { BookClient, BookFields } from '../../../src/client/index.ts';
import type { Batch } from './batches.ts';

/** The highest id that the service has given to a book that is still there; 0 when there is none. */
export async function highestId(client: Pick<BookClient, 'list'>): Promise<number> {
  for await (const { id } of client.list({ sort: '-id', limit: 1 })) return id;
  return 0;
}

/**
 * Whether a batch has been stored, as the books say that have come since it was sent. A batch is stored as a whole or not at
 * all, so it is there when most of its books are: others may have changed or deleted some by now.
 *
 * @param above an id below those of the batch, which was known before it was sent
 */
export async function isStored(
  { books }: Batch,
  above: number,
  client: Pick<BookClient, 'list'>,
): Promise<boolean> {
  const awaited = new Map<string, number>();
  for (const book of books) awaited.set(keyOf(book), (awaited.get(keyOf(book)) ?? 0) + 1);
  let found = 0;
  for await (const book of client.list({ sort: '-id', limit: PAGE_BOOKS })) {
    if (book.id <= above) break;
    const count = awaited.get(keyOf(book)) ?? 0;
    if (count === 0) continue;
    awaited.set(keyOf(book), count - 1);
    found++;
  }
  return found > books.length / 2;
}

/** As many as a batch has, so that one page tells in most cases. */
const PAGE_BOOKS = 1_000;

function keyOf({ title, author, year }: BookFields): string {
  return JSON.stringify([title, author, year]);
}
