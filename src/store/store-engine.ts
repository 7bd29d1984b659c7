import type { BookStore } from '../book/book-store-interface.ts';
import type { BookArchive } from './book-archive.ts';
import type { StoreObserver } from './observer.ts';

/** The engine of the store at one address. Nothing is opened before a method is called. */
export interface Engine {
  /**
   * Opens the store and prepares its storage structure. Safe when several processes do it at once.
   *
   * @throws StoreNotReady when the store cannot be reached or prepared
   */
  openStore(observer?: StoreObserver): Promise<BookStore>;

  /**
   * Inspects the store without changing it.
   *
   * @returns one phrase that describes it
   * @throws StoreNotReady when a service could not use it
   */
  inspect(): Promise<string>;

  /**
   * Opens the store as an archive, prepared as {@link openStore} does.
   *
   * @throws StoreNotReady when the store cannot be reached or prepared
   */
  openArchive(): Promise<BookArchive>;

  /**
   * Opens the store as an archive for reading, without changing it.
   *
   * @throws StoreNotReady when there is no store, or it cannot be reached
   */
  openArchiveForReading(): Promise<BookArchive>;

  /**
   * Copies the store, as of one moment, to a file, also while other processes write to it, and checks the copy.
   *
   * @param file does not exist yet; it is created complete or not at all
   * @param onProgress receives the part that is done, from 0 to 1; what it throws ends the copying
   * @throws StoreNotReady when the engine has no such backup, the copying fails, or the file exists
   */
  backUp(file: string, onProgress: (part: number) => void): Promise<void>;

  /**
   * Replaces the store with a backup, and keeps the store that was there under another name.
   *
   * @param file was written by {@link backUp}; it is not changed
   * @param onProgress receives the part that is done, from 0 to 1; what it throws ends the restore
   * @returns the name under which the previous store is kept; undefined when there was none
   * @throws StoreNotReady when the restore fails; nothing has changed then
   */
  restore(file: string, onProgress: (part: number) => void): Promise<string | undefined>;
}
