/** The public API of `bookkeeping/client`. */
export type { Book, BookFields } from '../book/contract.ts';
export {
  type BookClient,
  type CallOptions,
  type ClientOptions,
  createClient,
  requestToken,
  type ServiceOptions,
  type VersionedBook,
} from './client.ts';
export { BookkeepingError, NoAnswerError, RefusedError } from './client-errors.ts';
export type { BookList, BookPage, BookQuery } from './list.ts';
export { type Credentials, type Login, Session, type Token, type TokenProvider } from './session.ts';
