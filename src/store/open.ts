import type { BookStore } from '../book.ts';
import type { StoreAddress } from './address.ts';
import type { StoreObserver } from './observer.ts';

/**
 * Opens the store at an address and prepares its storage structure. Safe when several processes do it at once. The
 * other engine is not even loaded.
 *
 * @param observer is told what the store does
 * @throws StoreNotReady when the store cannot be reached or prepared
 */
export async function openStore(address: StoreAddress, observer?: StoreObserver): Promise<BookStore> {
  if (address.engine === 'sqlite') {
    const { openSqliteStore } = await import('./sqlite/book-store.ts');
    return openSqliteStore(address.path, observer);
  }
  const { openPostgresStore } = await import('./postgres/book-store.ts');
  return openPostgresStore(address.conninfo, observer);
}

/**
 * Looks at the store at an address, and changes nothing in it.
 *
 * @returns what is there, in a few words for people
 * @throws StoreNotReady when a service could not use it
 */
export async function inspectStore(address: StoreAddress): Promise<string> {
  if (address.engine === 'sqlite') {
    const { inspectSqliteStore } = await import('./sqlite/inspection.ts');
    return inspectSqliteStore(address.path);
  }
  const { inspectPostgresStore } = await import('./postgres/inspection.ts');
  return inspectPostgresStore(address.conninfo);
}
