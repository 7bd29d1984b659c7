import type { BookStore } from '../book.ts';
import type { StoreAddress } from './address.ts';
import { openPostgresStore } from './postgres/book-store.ts';
import { openSqliteStore } from './sqlite/book-store.ts';

/**
 * Opens the store at an address and prepares its storage structure. Safe when several processes do it at once.
 *
 * @throws StoreNotReady when the store cannot be reached or prepared
 */
export function openStore(address: StoreAddress): Promise<BookStore> {
  return address.engine === 'sqlite' ? openSqliteStore(address.path) : openPostgresStore(address.conninfo);
}
