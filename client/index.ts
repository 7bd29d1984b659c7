/** The public API of `bookkeeping-client`. */
export { type Book, type BookFields, TEXT_LENGTH_MAX } from '../src/book/contract.ts';
export type { BookChange, ChangesOptions } from './changes.ts';
export {
  type BookClient,
  type BookUpdate,
  type CallOptions,
  type ClientOptions,
  createClient,
  renewToken,
  requestToken,
  type ServiceOptions,
} from './client.ts';
export { BookkeepingError, ChangesRemovedError, NoResponseError, RefusedError } from './errors.ts';
export type { BookList, BookPage, BookQuery } from './list.ts';
export type { VersionedBook } from './responses.ts';
export { type Credentials, type Login, Session, type Token, type TokenProvider } from './session.ts';
