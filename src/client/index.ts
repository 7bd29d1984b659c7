/** What a user of the client gets from `bookkeeping/client`: this, and nothing else. */
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
export type { Credentials, Login, Token, TokenProvider } from './session.ts';
