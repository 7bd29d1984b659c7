import type { Book, BookFields } from '../../src/book/contract.ts';
import { listBooks, openArchiveAt, openStoreAt } from '../../testkit/stores.ts';

/** All books of a store, in the order of their ids. */
export async function booksAt(dbUrl: string): Promise<Book[]> {
  await using store = await openStoreAt(dbUrl);
  return await listBooks(store);
}

/** Adds books to a store, which is created if necessary. */
export async function putBooks(dbUrl: string, books: readonly BookFields[]): Promise<void> {
  await using archive = await openArchiveAt(dbUrl);
  await archive.add(books);
}

/** The counts in the summary of an import. */
export function tallyOf(stdout: string): Record<'read' | 'stored' | 'skipped' | 'bad', number> {
  const figure = (name: string) => Number(new RegExp(`\\b${name} ([0-9]+)`).exec(stdout)?.[1]);
  return { read: figure('read'), stored: figure('stored'), skipped: figure('skipped'), bad: figure('bad') };
}
