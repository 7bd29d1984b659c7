import type { Book, BookFields } from '../../src/book/book.ts';
import { listBooks, openArchiveAt, openStoreAt } from '../support/stores.ts';

/** All books of a store, in the order of their ids. */
export async function booksAt(dbUrl: string): Promise<Book[]> {
  await using store = await openStoreAt(dbUrl);
  return await listBooks(store);
}

/** Puts books into a store that may be empty. */
export async function putBooks(dbUrl: string, books: readonly BookFields[]): Promise<void> {
  await using archive = await openArchiveAt(dbUrl);
  await archive.add(books);
}

/** The figures of the summary that an import ends with. */
export function tallyOf(output: string): Record<'read' | 'stored' | 'skipped' | 'bad', number> {
  const figure = (name: string) => Number(new RegExp(`\\b${name} ([0-9]+)`).exec(output)?.[1]);
  return { read: figure('read'), stored: figure('stored'), skipped: figure('skipped'), bad: figure('bad') };
}
