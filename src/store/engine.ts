import type { BookStore } from '../book/book-store.ts';
import type { BookArchive } from './book-archive.ts';
import type { StoreObserver } from './observer.ts';
import type { PostgresServer } from './postgres/connection/connect.ts';

/** An open store. */
export interface OpenStore extends BookStore {
  readonly connection: StoreConnection;
}

/** How searches and the history reach the books of an open store. */
export type StoreConnection =
  | SqliteConnection
  | {
      readonly engine: 'postgres';
      readonly server: PostgresServer;
      /** Whether triggers on the table of books can see all changes. */
      readonly canHaveTriggers: boolean;
    };

export interface SqliteConnection {
  readonly engine: 'sqlite';
  readonly path: string;
  /**
   * Calls the function `write` of a module in the write thread, with its connection, a function that runs a transaction, and an argument.
   *
   * @returns its result
   * @throws errors in terms of the BookStore interface
   */
  write(module: URL, argument: unknown): Promise<unknown>;
}

/** The engine of the store at one address. Its asynchronous methods reject with StoreNotReady when they fail. */
export interface Engine {
  /** Opens the store and prepares its schema. Several processes may do so concurrently. */
  openStore(observer: StoreObserver): Promise<OpenStore>;
  /** After the store was closed: what its file alone lacks, in one phrase; undefined when it has all books. */
  describeRemains?(): string | undefined;
  /** Describes the store in one phrase, without changing it; rejects when a service could not use it. */
  inspect(): Promise<string>;
  /** Opens the store as an archive and prepares its schema. */
  openArchive(): Promise<BookArchive>;
  /** Opens the store as an archive for reading, without changing it; rejects when there is none. */
  openArchiveForReading(): Promise<BookArchive>;
  /** Copies a snapshot of the store to a file, which must not exist, and checks the copy. No partial file remains. */
  backUp(file: string, onProgress: OnProgress): Promise<void>;
  /** Replaces the store with a backup, completely or not at all. @returns the new name of the previous store, if any */
  restore(file: string, onProgress: OnProgress): Promise<string | undefined>;
}

/** Receives the completed part, from 0 to 1; an error that it throws cancels the operation. */
export type OnProgress = (part: number) => void;
