import type { Book, BookQuery } from '../../../src/client/index.ts';
import { client } from '../session/session.ts';

/** The ids of books that are deleted, or will be, and are not shown. */
export const hiddenIds = new Set<number>();

/** Those of them that the service still has and has counted, with the rows before which they were loaded. */
export const countedHidden = new Map<number, number>();

/** Whether a book has a pending deletion. */
export function isHidden({ id }: Book): boolean {
  return hiddenIds.has(id);
}

/** The largest page of the service. */
const PAGE_BOOKS = 1_000;

/** The books of a query without the hidden ones, page by page. */
export async function* shownPages(
  query: BookQuery,
  signal: AbortSignal,
): AsyncGenerator<readonly Book[], void> {
  for await (const { books } of client.list({ ...query, limit: PAGE_BOOKS }, { signal }).pages())
    yield books.filter((book) => !isHidden(book));
}

/** The position of a row among the books of the service. */
export function offsetOf(row: number): number {
  return row + [...countedHidden.values()].filter((hiddenRow) => hiddenRow <= row).length;
}

/** The row of a position among the books of the service. */
export function rowAt(offset: number): number {
  let row = offset;
  while (offsetOf(row) > offset) row--;
  return row;
}
