import type { Book, BookQuery } from '../../../src/client/index.ts';
import type { Caller } from './import.ts';

/** So many books come in one answer: the most that the service gives. */
const PAGE_BOOKS = 1_000;

/**
 * All books that match, in their order, page after page. A page that fails is asked for by itself when somebody signs in
 * again; of what changes meanwhile, a book is there once or not at all.
 *
 * @throws what the client throws; the reason of the signal when it is aborted
 */
export async function* pagesOf(
  query: BookQuery,
  call: Caller,
  signal: AbortSignal,
): AsyncGenerator<readonly Book[], void> {
  for (let after = query.after, isLast = false; !isLast; ) {
    const asked = { ...query, after, limit: PAGE_BOOKS };
    const { value: page } = await call((client) => client.list(asked, { signal }).pages().next());
    signal.throwIfAborted();
    if (page) yield page.books;
    after = page?.next;
    isLast = after === undefined;
  }
}
