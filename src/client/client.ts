import type { Book, BookFields } from '../book/contract.ts';
import { RefusedError } from './client-errors.ts';
import { type Answer, type Call, type Send, sendingTo } from './exchange.ts';
import { type BookList, type BookQuery, listOf } from './list.ts';
import { PATIENCE, type Patience, retrying } from './retries.ts';
import { authorizing, type Credentials, type Login, requestTokenBy, type Token } from './session.ts';

/** Where the service is, and how the client gets its tokens. */
export type ClientOptions = Credentials & ServiceOptions;

/** Where the service is, and how long the client tries to reach it. */
export interface ServiceOptions {
  /** The address of the service, such as `https://books.example` or, behind a proxy, `https://example.org/books/api`. */
  readonly url: string | URL;
  /** How long an answer to one attempt may take, content included, in milliseconds; 30,000 by default. */
  readonly timeoutMs?: number;
  /** How often a call that may be repeated is sent at most, the first time included; 5 by default. */
  readonly attemptsMax?: number;
}

/** What every call takes. */
export interface CallOptions {
  /** Aborts the call in whatever state it is, waits between attempts included. A write may have happened by then. */
  readonly signal?: AbortSignal | undefined;
}

/** A book as one answer has it, with its version. */
export interface VersionedBook extends Book {
  /** Stands for the book as it is now (RFC 9110, section 8.8.3); undefined when the answer had none to be read. */
  readonly etag: string | undefined;
}

/**
 * The service, as its users see it. Every call
 *
 * - signs in when that is needed, and renews the token before it expires or when the service refuses it;
 * - is sent again, `createMany` excepted, when it is not answered, or with 429, 502, 503 or 504, after a wait that
 *   `Retry-After` and chance tell; sent twice, these calls do no more than sent once;
 * - throws `RefusedError` when the service refuses it or the sign-in, `NoAnswerError` when no answer came, and the reason
 *   of the signal when that is aborted.
 */
export interface BookClient {
  /**
   * Stores a new book; absent fields are empty. However often it is sent, it is stored once: all attempts carry the
   * same `Idempotency-Key`.
   *
   * @param options.idempotencyKey another key than a random one, for calls that outlive this process
   * @throws {RefusedError} 400 when it is no book, 422 when the key was used for another book
   */
  create(
    fields: Partial<BookFields>,
    options?: CallOptions & { readonly idempotencyKey?: string | undefined },
  ): Promise<VersionedBook>;

  /**
   * Stores up to 10,000 new books, all or none, and returns them in their order. It is sent once only: when no answer
   * came, nobody knows whether it has happened.
   *
   * @throws {RefusedError} 400 with `invalidIndex` when one is no book
   */
  createMany(books: readonly Partial<BookFields>[], options?: CallOptions): Promise<Book[]>;

  /**
   * The book of this id, or undefined when there is none.
   *
   * @param options.known the book as it was found before: comes back itself when it has not changed since
   */
  find(
    id: number,
    options?: CallOptions & { readonly known?: VersionedBook | undefined },
  ): Promise<VersionedBook | undefined>;

  /**
   * All books of a query, page after page: `for await (const book of client.list({ author: 'Homer' })) …`
   *
   * @throws {RefusedError} 400 when there is no such query; like all errors, when its page is asked for
   */
  list(query?: BookQuery, options?: CallOptions): BookList;

  /**
   * Changes the given fields of a book; the others keep what they have.
   *
   * @param options.ifMatch the `etag` that the book has to have, so that changes of others are not overwritten
   * @returns the whole book, or undefined when there is none
   * @throws {RefusedError} 400 when these are no fields of a book; 412 when the book has changed, also by an earlier
   *   attempt of this call, where `mayHaveHappened` is true
   * @throws {TypeError} when `ifMatch` is given and undefined: that would overwrite whatever is there
   */
  update(
    id: number,
    changes: Partial<BookFields>,
    options?: CallOptions & { readonly ifMatch?: string },
  ): Promise<VersionedBook | undefined>;

  /**
   * Removes a book.
   *
   * @param options.ifMatch the `etag` that the book has to have
   * @returns whether there was one; false, too, when an earlier attempt of this call has removed it unanswered
   * @throws {RefusedError} 412 when the book has changed
   * @throws {TypeError} when `ifMatch` is given and undefined
   */
  delete(id: number, options?: CallOptions & { readonly ifMatch?: string }): Promise<boolean>;
}

/** Makes a client. Nothing is sent before the first call. @throws {TypeError} when the address is not of HTTP */
export function createClient(options: ClientOptions): BookClient {
  return createClientIn(SURROUNDINGS, options);
}

/**
 * Asks the service for a token, for programs that keep it themselves.
 *
 * @throws {RefusedError} 401 when username or password is wrong, 429 after too many failures
 * @throws {NoAnswerError}
 */
export function requestToken(options: Login & ServiceOptions): Promise<Token> {
  return requestTokenBy(sendingBy(SURROUNDINGS, options), options, Date.now);
}

/** What the client needs of the world around; tests bring their own. */
export interface Surroundings extends Patience {
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number;
}

const SURROUNDINGS: Surroundings = { ...PATIENCE, now: Date.now };

/** Makes a client whose time and chance are given. */
export function createClientIn(surroundings: Surroundings, options: ClientOptions): BookClient {
  return clientOn(authorizing(sendingBy(surroundings, options), options, surroundings.now));
}

function sendingBy(patience: Patience, { url, timeoutMs = 30_000, attemptsMax = 5 }: ServiceOptions): Send {
  return retrying(sendingTo(addressOf(url), timeoutMs), attemptsMax, patience);
}

function clientOn(send: Send): BookClient {
  return {
    async create(fields, { signal, idempotencyKey = newKey() } = {}) {
      const headers = { 'Idempotency-Key': idempotencyKey };
      const call: Call = { ...WRITE, method: 'POST', path: 'book', headers, body: JSON.stringify(fields) };
      return bookIn(await send(call, signal));
    },

    async createMany(books, { signal } = {}) {
      const call: Call = { ...WRITE, method: 'POST', path: 'books', body: JSON.stringify(books) };
      return accepted(await send({ ...call, isRepeatable: false }, signal)).data as Book[];
    },

    async find(id, { signal, known } = {}) {
      const headers = known?.etag === undefined ? {} : { 'If-None-Match': known.etag };
      const answer = await send({ ...READ, path: pathOf(id), headers }, signal);
      if (answer.status === 304 && known) return known;
      return isAbsent(answer) ? undefined : bookIn(answer);
    },

    list(query = {}, { signal } = {}) {
      return listOf(query, async (path) => accepted(await send({ ...READ, path }, signal)));
    },

    async update(id, changes, { signal, ...condition } = {}) {
      const call: Call = { ...WRITE, method: 'PUT', path: pathOf(id), body: JSON.stringify(changes) };
      const answer = await send({ ...call, headers: headersOf(condition) }, signal);
      return isAbsent(answer) ? undefined : bookIn(answer);
    },

    async delete(id, { signal, ...condition } = {}) {
      const call: Call = { ...WRITE, method: 'DELETE', path: pathOf(id), headers: headersOf(condition) };
      const answer = await send(call, signal);
      return !isAbsent(answer) && accepted(answer).status === 200;
    },
  };
}

const READ = { method: 'GET', isRepeatable: true, isWrite: false } as const;
const WRITE = { isRepeatable: true, isWrite: true } as const;

/** @returns the address with a slash at its end, for paths to follow */
function addressOf(url: string | URL): string {
  const { protocol, origin, pathname } = new URL(url);
  if (!/^https?:$/.test(protocol)) throw new TypeError(`${protocol} is not the protocol of a web service`);
  return `${origin}${pathname.replace(/\/*$/, '/')}`;
}

function pathOf(id: number): string {
  return `book/${encodeURIComponent(id)}`;
}

function headersOf(condition: { readonly ifMatch?: string | undefined }): Record<string, string> {
  if (!('ifMatch' in condition)) return {};
  if (condition.ifMatch === undefined)
    throw new TypeError('ifMatch is undefined: the book has no etag to compare');
  return { 'If-Match': condition.ifMatch };
}

/** 122 random bits or more. Pages that came without TLS have no `randomUUID`. */
function newKey(): string {
  return crypto.randomUUID?.() ?? crypto.getRandomValues(new Uint32Array(4)).join('-');
}

/** Whether there is no such book; another 404 says that the address is wrong. */
function isAbsent({ status, message }: Answer): boolean {
  return status === 404 && message === 'Book not found';
}

function bookIn(answer: Answer): VersionedBook {
  const { data, headers } = accepted(answer);
  return { ...(data as Book), etag: headers.get('ETag') ?? undefined };
}

/** @throws {RefusedError} */
function accepted(answer: Answer): Answer {
  if (answer.status >= 300) throw new RefusedError(answer);
  return answer;
}
