import type { BookStore } from '../book/book.ts';
import type { StoreAddress } from './address.ts';
import type { BookArchive } from './book-archive.ts';
import type { StoreObserver } from './observer.ts';
import { StoreNotReady } from './store-errors.ts';

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

/**
 * Opens the books of the store at an address, prepared as {@link openStore} does.
 *
 * @throws StoreNotReady when the store cannot be reached or prepared
 */
export async function openArchive(address: StoreAddress): Promise<BookArchive> {
  if (address.engine === 'sqlite') {
    const { openSqliteArchive } = await import('./sqlite/archive.ts');
    return openSqliteArchive(address.path);
  }
  const { openPostgresArchive } = await import('./postgres/archive.ts');
  return openPostgresArchive(address.conninfo);
}

/**
 * Opens the books of the store at an address to read them only, and changes nothing there.
 *
 * @throws StoreNotReady when there is none, or it cannot be reached
 */
export async function openArchiveForReading(address: StoreAddress): Promise<BookArchive> {
  if (address.engine === 'sqlite') {
    const { openSqliteArchiveForReading } = await import('./sqlite/archive.ts');
    return openSqliteArchiveForReading(address.path);
  }
  const { openPostgresArchiveForReading } = await import('./postgres/archive.ts');
  return openPostgresArchiveForReading(address.conninfo);
}

/**
 * Copies the store at an address into a file, as it is at one moment, also while others write to it.
 *
 * @param file where the copy goes; it is there as a whole or not at all
 * @param onProgress is told what part of it is done, from 0 to 1; what it throws ends the copying
 * @throws StoreNotReady when that cannot be done, or the file exists
 */
export async function backUpStore(
  address: StoreAddress,
  file: string,
  onProgress: (part: number) => void,
): Promise<void> {
  if (address.engine === 'postgres') {
    throw new StoreNotReady('PostgreSQL is backed up with pg_dump --format=custom --file=FILE DATABASE');
  }
  const { backUpSqliteStore } = await import('./sqlite/files/backup-file.ts');
  await backUpSqliteStore(address.path, file, onProgress);
}

/**
 * Puts a backup in the place of the store at an address, which is kept under another name.
 *
 * @param file a file that {@link backUpStore} has written
 * @param onProgress is called with the part that is done, from 0 to 1; what it throws ends the restore
 * @returns the name under which the store that was there is kept; undefined when there was none
 * @throws StoreNotReady when that cannot be done, and then nothing has changed
 */
export async function restoreStore(
  address: StoreAddress,
  file: string,
  onProgress: (part: number) => void,
): Promise<string | undefined> {
  if (address.engine === 'postgres') {
    throw new StoreNotReady(
      'PostgreSQL is restored with pg_restore --clean --if-exists --dbname=DATABASE FILE',
    );
  }
  const { restoreSqliteStore } = await import('./sqlite/files/restore-file.ts');
  return restoreSqliteStore(address.path, file, onProgress);
}
