import type { StoreConnection } from '../store/engine.ts';
import type { StoreObserver } from '../store/observer.ts';
import type { BookSearch } from './book-search.ts';

/** Opens the searches in the books of an open store; dispose of them before the store. */
export async function openSearch(connection: StoreConnection, observer: StoreObserver): Promise<BookSearch> {
  if (connection.engine === 'sqlite')
    return new (await import('./sqlite/search.ts')).SqliteSearch(connection.path, observer);
  const { PostgresSearch } = await import('./postgres/search.ts');
  return new PostgresSearch(connection, observer);
}
