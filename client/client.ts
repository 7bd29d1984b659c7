import type { Book, BookFields } from '../src/book/contract.ts';
import { type BookChange, type ChangesOptions, followChanges, nextCursorOf, readChanges } from './changes.ts';
import { createSender, reading, type Send, TIMEOUT_MS, writing } from './exchange.ts';
import { type BookList, type BookQuery, createBookList } from './list.ts';
import { expectSuccess, isNotFound, toVersionedBook, type VersionedBook } from './responses.ts';
import { DEPENDENCIES, type Dependencies, withRetries } from './retries.ts';
import {
  type Credentials,
  fetchRenewal,
  fetchToken,
  type Login,
  type Token,
  withAuthorization,
} from './session.ts';

/** The URL of the service, and the credentials. */
export type ClientOptions = Credentials & ServiceOptions;

export interface ServiceOptions {
  /** Such as `https://books.example` or, behind a proxy, `https://example.org/books/api`. */
  readonly url: string | URL;
  /** The timeout of one attempt, for a whole response, in milliseconds; 30,000 by default. */
  readonly timeoutMs?: number;
  /** The number of attempts of a retryable call, including the first; 5 by default. */
  readonly attemptsMax?: number;
}

export interface CallOptions {
  /** Aborts the call, also while it waits for a retry. A write may have happened. */
  readonly signal?: AbortSignal | undefined;
}

/** New values of some fields of a book, or its deletion. `ifMatch` is as in {@link BookClient.update}. */
export type BookUpdate = { readonly id: number; readonly ifMatch?: string } & (
  | (Partial<BookFields> & { readonly deleted?: false })
  | { readonly deleted: true }
);

/**
 * A client of the service. Every call
 *
 * - requests a token when it needs one, and renews it before it expires or when the service rejects it;
 * - is retried when it gets no response, or 429, 502, 503 or 504, after `Retry-After` and a random wait, if a retry has no further
 *   effect: `update`, `delete` and `restore` only with `ifMatch`, and `updateMany` only if each of its books has one, because
 *   without it, a retry could undo a change that another client has made after a first attempt;
 * - throws `RefusedError` when the service responds with an error, `NoResponseError` when there is no response, and the reason
 *   of the signal when that is aborted.
 */
export interface BookClient {
  /**
   * Stores a new book; absent fields are empty. Retries store it once: all attempts have the same `Idempotency-Key`.
   *
   * @param options.idempotencyKey instead of a random one, for calls that another process may repeat
   * @throws {RefusedError} 400 for an invalid book, 422 when the key was used for another book
   */
  create(
    fields: Partial<BookFields>,
    options?: CallOptions & { readonly idempotencyKey?: string | undefined },
  ): Promise<VersionedBook>;

  /**
   * Stores up to 10,000 new books, all or none, and returns them in their order. Retries and `idempotencyKey` are those of
   * {@link create}.
   *
   * @throws {RefusedError} 400 with `invalidIndex` for an invalid book, 422 when the key was used for other books
   */
  createMany(
    books: readonly Partial<BookFields>[],
    options?: CallOptions & { readonly idempotencyKey?: string | undefined },
  ): Promise<Book[]>;

  /**
   * Changes and deletes up to 10,000 books, all or none.
   *
   * @returns the whole books in the order of the updates, with null for deleted ones
   * @throws {RefusedError} with `invalidIndex`, that of the first update at fault: 400 when it is invalid, 404 when there is no
   *   such book, 412 when the book has changed. An earlier attempt of this call may be the reason: then `mayHaveHappened` is true
   * @throws {TypeError} as {@link update}
   */
  updateMany(updates: readonly BookUpdate[], options?: CallOptions): Promise<(Book | null)[]>;

  /**
   * The book with this id; undefined when there is none.
   *
   * @param options.known an earlier result, which is returned when the book has not changed
   */
  find(
    id: number,
    options?: CallOptions & { readonly known?: VersionedBook | undefined },
  ): Promise<VersionedBook | undefined>;

  /**
   * All books of a query, page after page: `for await (const book of client.list({ author: 'Homer' })) …`
   *
   * @throws {RefusedError} 400 for an invalid query, when the page is requested
   */
  list(query?: BookQuery, options?: CallOptions): BookList;

  /**
   * Changes the given fields of a book.
   *
   * @param options.ifMatch the expected `etag`, so that concurrent changes are not overwritten
   * @returns the whole book; undefined when there is none
   * @throws {RefusedError} 400 for invalid fields; 412 when the book has changed, also by an earlier attempt of this call:
   *   then `mayHaveHappened` is true
   * @throws {TypeError} when `ifMatch` is present and undefined, which would overwrite any version
   */
  update(
    id: number,
    changes: Partial<BookFields>,
    options?: CallOptions & { readonly ifMatch?: string },
  ): Promise<VersionedBook | undefined>;

  /**
   * Deletes a book. `ifMatch` and errors are those of {@link update}.
   *
   * @returns whether there was one; also false when an earlier attempt of this call has deleted it
   */
  delete(id: number, options?: CallOptions & { readonly ifMatch?: string }): Promise<boolean>;

  /**
   * Stores a deleted book again, as it was.
   *
   * @param options.ifMatch the expected `etag` of the book as it was deleted
   * @returns undefined when its deletion is not known
   * @throws {RefusedError} 409 when the book exists, also by an earlier attempt of this call; 412 when it was another one
   */
  restore(
    id: number,
    options?: CallOptions & { readonly ifMatch?: string },
  ): Promise<VersionedBook | undefined>;

  /**
   * Stores up to 10,000 deleted books again, as they were, all or none.
   *
   * @throws {RefusedError} with `invalidIndex`, that of the first id at fault: 404 when its deletion is not known, 409 when the
   *   book exists. An earlier attempt of this call may be the reason: then `mayHaveHappened` is true
   */
  restoreMany(ids: readonly number[], options?: CallOptions): Promise<Book[]>;

  /**
   * The changes of a book, the last one first.
   *
   * @param options.after the cursor of a change, for those before it
   * @throws {RefusedError} 404 when none are known
   */
  history(
    id: number,
    options?: CallOptions & { readonly after?: string | undefined },
  ): AsyncIterableIterator<BookChange>;

  /** The changes of all books up to now, the last one first. @throws {RefusedError} 404 when no history is recorded */
  lastChanges(options?: CallOptions): AsyncIterableIterator<BookChange>;

  /** The last deletions of books that have not been stored again since, the last one first. */
  deletedBooks(options?: CallOptions): AsyncIterableIterator<BookChange>;

  /** The cursor of the last change so far, for the changes to come. @throws {RefusedError} 404 when no history is recorded */
  newestCursor(options?: CallOptions): Promise<string>;

  /**
   * All changes as they happen: `for await (const change of client.changes({ after, signal })) …`. It waits for changes, and
   * resumes after an outage by itself. To continue later, keep the `cursor` of the last change, as the next `after`.
   *
   * @throws {ChangesRemovedError} when changes after the cursor are no longer kept
   */
  changes(options?: ChangesOptions): AsyncIterableIterator<BookChange>;
}

/** Nothing is sent before the first call. @throws {TypeError} when the URL is not HTTP */
export function createClient(options: ClientOptions): BookClient {
  return createClientWith(DEPENDENCIES, options);
}

/**
 * Requests a token, for programs that manage it themselves.
 *
 * @throws {RefusedError} 401 when username or password is wrong, 429 after too many failures
 * @throws {NoResponseError}
 */
export function requestToken(options: Login & ServiceOptions): Promise<Token> {
  return fetchToken(createRetryingSender(DEPENDENCIES, options), options, Date.now);
}

/**
 * Renews a token while it is valid, for up to 12 hours after the sign-in: so a page need not keep the password.
 *
 * @returns a token of the same scope
 * @throws {RefusedError} 401 when the token has expired, or the sign-in was 12 hours ago
 * @throws {NoResponseError}
 */
export function renewToken({
  token,
  ...options
}: { readonly token: string } & ServiceOptions): Promise<Token> {
  return fetchRenewal(createRetryingSender(DEPENDENCIES, options), token, Date.now);
}

/** {@link createClient} with its randomness and clock as arguments. */
export function createClientWith(dependencies: Dependencies, options: ClientOptions): BookClient {
  const send = withAuthorization(createRetryingSender(dependencies, options), options, dependencies.now);
  const read = async (path: string, signal?: AbortSignal) => expectSuccess(await send(reading(path), signal));
  return {
    async create(fields, { signal, idempotencyKey = randomKey() } = {}) {
      const headers = { 'Idempotency-Key': idempotencyKey };
      return toVersionedBook(await send(writing('POST', 'book', headers, fields), signal));
    },

    async createMany(books, { signal, idempotencyKey = randomKey() } = {}) {
      const headers = { 'Idempotency-Key': idempotencyKey };
      return expectSuccess(await send(writing('POST', 'books', headers, books), signal)).data as Book[];
    },

    async updateMany(updates, { signal } = {}) {
      for (const update of updates) headersOf(update);
      const isRetryable = updates.every(({ ifMatch }) => ifMatch !== undefined);
      const response = await send({ ...writing('PATCH', 'books', {}, updates), isRetryable }, signal);
      return expectSuccess(response).data as (Book | null)[];
    },

    async find(id, { signal, known } = {}) {
      const headers = known?.etag === undefined ? {} : { 'If-None-Match': known.etag };
      const response = await send(reading(pathOf(id), headers), signal);
      if (response.status === 304 && known) return known;
      return isNotFound(response) ? undefined : toVersionedBook(response);
    },

    list(query = {}, { signal } = {}) {
      return createBookList(query, (path) => read(path, signal));
    },

    async update(id, changes, { signal, ...condition } = {}) {
      const response = await send(writing('PUT', pathOf(id), headersOf(condition), changes), signal);
      return isNotFound(response) ? undefined : toVersionedBook(response);
    },

    async delete(id, { signal, ...condition } = {}) {
      const response = await send(writing('DELETE', pathOf(id), headersOf(condition)), signal);
      return !isNotFound(response) && expectSuccess(response).status === 200;
    },

    async restore(id, { signal, ...condition } = {}) {
      const response = await send(writing('POST', `${pathOf(id)}/restore`, headersOf(condition)), signal);
      return isNotFound(response) ? undefined : toVersionedBook(response);
    },

    async restoreMany(ids, { signal } = {}) {
      return expectSuccess(await send(writing('POST', 'books/restore', {}, ids), signal)).data as Book[];
    },

    history(id, { signal, after } = {}) {
      return readChanges(`${pathOf(id)}/history`, { after }, (path) => read(path, signal));
    },

    lastChanges({ signal } = {}) {
      return readChanges('changes', { order: 'desc' }, (path) => read(path, signal));
    },

    deletedBooks({ signal } = {}) {
      return readChanges('books/deleted', {}, (path) => read(path, signal));
    },

    async newestCursor({ signal } = {}) {
      return nextCursorOf(await read('changes?after=now&limit=1', signal)) ?? '';
    },

    changes(changes = {}) {
      const { signal } = changes;
      return followChanges(
        changes,
        options.timeoutMs ?? TIMEOUT_MS,
        (path) => send(reading(path), signal),
        dependencies,
      );
    },
  };
}

function createRetryingSender(
  dependencies: Dependencies,
  { url, timeoutMs = TIMEOUT_MS, attemptsMax = 5 }: ServiceOptions,
): Send {
  const { protocol, origin, pathname } = new URL(url);
  if (!/^https?:$/.test(protocol)) throw new TypeError(`${protocol} is not http: or https:`);
  const baseUrl = `${origin}${pathname.replace(/\/*$/, '/')}`;
  return withRetries(createSender(baseUrl, timeoutMs), attemptsMax, dependencies);
}

function headersOf(condition: { readonly ifMatch?: string | undefined }): Record<string, string> {
  if (!('ifMatch' in condition)) return {};
  if (condition.ifMatch === undefined)
    throw new TypeError('ifMatch is undefined: the book has no etag to compare');
  return { 'If-Match': condition.ifMatch };
}

function pathOf(id: number): string {
  return `book/${encodeURIComponent(id)}`;
}

/** At least 122 random bits. Pages without TLS lack `randomUUID`. */
function randomKey(): string {
  return crypto.randomUUID?.() ?? crypto.getRandomValues(new Uint32Array(4)).join('-');
}
