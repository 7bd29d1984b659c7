import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Book } from '../expect.ts';
import { type Field, readFields, receive } from './body.ts';
import { History } from './history.ts';
import { faultOf, readIds, readUpdates } from './many-books.ts';
import type { Reply } from './reply.ts';
import { isReadOnly, issueToken, isValidToken, renewToken } from './token.ts';
import type { Planted } from './violations.ts';

/** The accepted username and password, and the signing secret. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
  readonly secret: string;
}

const BAD_REQUEST = { status: 400, message: 'Bad request' };
const NO_SUCH_PATH = { status: 404, message: 'Not found' };
const NO_SUCH_BOOK = { status: 404, message: 'Book not found' };
const INVALID_INPUT = { status: 400, message: 'Invalid input' };
const INVALID_TOKEN = { status: 401, message: 'Invalid token' };
const TOO_LARGE = { status: 413, message: 'Payload too large' };

/** Less than the time limit of the tests for a response. */
const MEETING_MS_MAX = 500;

/** The whole contract on books in memory, except for the planted violation. */
export class Api {
  /** How many logins were rejected. */
  wrongLogins = 0;
  readonly #credentials: Credentials;
  readonly #has: Planted;
  readonly #books = new Map<number, Book>();
  readonly #deleted = new Map<number, Book>();
  readonly #bodies = new WeakMap<IncomingMessage, Promise<Buffer | undefined>>();
  readonly #issued = new Set<string>();
  /** What was created with each idempotency key. */
  readonly #keys = new Map<string, { readonly fields: Omit<Book, 'id'>; readonly book: Book }>();
  readonly #history: History;
  #lastId = 0;
  /** A request that waits in {@link #meetAnother}. */
  #waiting: PromiseWithResolvers<void> | undefined;

  constructor(credentials: Credentials, has: Planted) {
    this.#credentials = credentials;
    this.#has = has;
    this.#history = new History(has);
  }

  async respond(request: IncomingMessage): Promise<Reply> {
    const hosts = request.headersDistinct.host?.length ?? 0;
    const needsHost = request.httpVersion === '1.1' || this.#has('HTTP/1.0 needs Host too');
    if (hosts === 0 && needsHost && !this.#has('a request without Host is accepted')) return BAD_REQUEST;
    if (hosts > 1 && !this.#has('the first of two Host lines counts')) return BAD_REQUEST;

    const path = this.#pathOf(request);
    const methods = methodsOf(path);
    if (!methods) return NO_SUCH_PATH;
    const method = request.method === 'HEAD' && !this.#has('HEAD is 405') ? 'GET' : (request.method ?? '');
    if (!methods.includes(method)) return this.#rejectMethod(methods);
    if (path === '/token')
      return { ...(await this.#login(request)), headers: { 'Cache-Control': 'no-store' } };
    const rejection = await this.#checkToken(request, method, path);
    if (rejection) return rejection;
    if (path === '/token/renewal') return this.#renew(request);
    const reply = await this.#run(request, method, path);
    return { ...reply, headers: { 'Cache-Control': 'private, no-cache', ...reply.headers } };
  }

  #pathOf(request: IncomingMessage): string {
    const path = (request.url ?? '').replace(/\?.*$/, '');
    return this.#has('a slash at the end of a path is ignored') ? path.replace(/\/$/, '') : path;
  }

  #rejectMethod(methods: readonly string[]): Reply {
    if (this.#has('a wrong method is 404')) return NO_SUCH_PATH;
    const rejection = { status: 405, message: 'Method not allowed' };
    if (this.#has('405 lists no methods')) return rejection;
    return { ...rejection, headers: { Allow: methods.join(', ').replace('GET', 'GET, HEAD') } };
  }

  async #login(request: IncomingMessage): Promise<Reply> {
    const { username, password, secret } = this.#credentials;
    const { authorization } = request.headers;
    if (this.#has('POST /token needs a token') && authorization) return INVALID_TOKEN;
    const body = await this.#bodyOf(request);
    if (!body) return TOO_LARGE;
    const login = this.#fieldsOf(request, body, ['username', 'password', 'scope']);
    const isScope = login?.scope === undefined || login.scope === 'read';
    if (!isScope && !this.#has('any scope of a login is accepted'))
      return { status: 400, message: 'Invalid request payload' };
    if (!login && !this.#has('an invalid login body is 401')) {
      return { status: 400, message: 'Invalid request payload' };
    }
    const isKnown = login?.username === username || (login && this.#has('any username is accepted'));
    const isRight = login?.password === password || (login && this.#has('any password is accepted'));
    if (!isKnown || !isRight) {
      this.wrongLogins++;
      return { status: this.#has('failed logins are 403') ? 403 : 401, message: 'Invalid credentials' };
    }
    const token = issueToken(secret, login?.scope, this.#has);
    this.#issued.add(token);
    const data = this.#has('data has a token type') ? { token, token_type: 'JWT' } : { token };
    return { status: 200, message: 'Token generated successfully', data };
  }

  async #renew(request: IncomingMessage): Promise<Reply> {
    const { authorization = '' } = request.headers;
    if (this.#has('a renewal needs a body')) {
      const body = await this.#bodyOf(request);
      if (!body || !this.#fieldsOf(request, body, []))
        return { status: 400, message: 'Invalid request payload' };
    }
    const token = renewToken(authorization, this.#credentials.secret, this.#has);
    if (token === undefined) return INVALID_TOKEN;
    this.#issued.add(token);
    const headers = { 'Cache-Control': this.#has('renewed tokens are cached') ? 'private' : 'no-store' };
    return { status: 200, message: 'Token generated successfully', data: { token }, headers };
  }

  async #checkToken(request: IncomingMessage, method: string, path: string): Promise<Reply | undefined> {
    if (this.#has('GET /books needs no token') && path === '/books') return undefined;
    if (this.#has('GET /changes needs no token') && path === '/changes') return undefined;
    if (this.#has('the token is checked after the book') && path.startsWith('/book/')) {
      if (!this.#books.has(idOf(path, this.#has))) return NO_SUCH_BOOK;
    }
    if (this.#has('the token is checked after the body')) await this.#bodyOf(request);
    const { authorization } = request.headers;
    if (authorization === undefined || authorization === '') {
      const isInvalid = authorization === '' && this.#has('an empty Authorization is an invalid token');
      return isInvalid ? INVALID_TOKEN : { status: 401, message: 'Authorization token required' };
    }
    if (path === '/token/renewal' && this.#has('any token is renewed')) return undefined;
    if (path === '/token/renewal' && this.#isAccepted(authorization)) return undefined;
    if (this.#isAccepted(authorization)) return this.#checkScope(request, method, authorization);
    if (this.#has('DELETE runs without a valid token') && method === 'DELETE') {
      this.#books.delete(idOf(path, this.#has));
    }
    return INVALID_TOKEN;
  }

  #checkScope(request: IncomingMessage, method: string, token: string): Reply | undefined {
    if (!isReadOnly(token, this.#has)) return undefined;
    if (method === 'DELETE' && this.#has('a read-only token may delete')) return undefined;
    const isHead = request.method === 'HEAD' && this.#has('a read-only token is for GET alone');
    return method === 'GET' && !isHead ? undefined : { status: 403, message: 'Read-only token' };
  }

  #isAccepted(token: string): boolean {
    const isIssued = this.#issued.has(token);
    if (this.#has('a token works once')) return this.#issued.delete(token);
    if (this.#has('only issued tokens are accepted') && !isIssued) return false;
    if (this.#has('tokens are signed with another secret') && isIssued) return true;
    return isValidToken(token, this.#credentials.secret, this.#has);
  }

  async #run(request: IncomingMessage, method: string, path: string): Promise<Reply> {
    if (path === '/books') return method === 'PATCH' ? this.#updateMany(request) : this.#list(request);
    if (path === '/book') return this.#create(request);
    if (path === '/changes') return this.#history.list(request);
    if (path === '/books/restore') return this.#restoreMany(request);
    const id = idOf(path, this.#has);
    if (path.endsWith('/history')) return this.#history.listOfBook(id);
    if (path.endsWith('/restore')) return this.#restore(id);
    const book = this.#books.get(id);
    if (method === 'PUT') return this.#update(request, book);
    if (method === 'DELETE') return this.#delete(request, book);
    return book ? { status: 200, message: 'Book retrieved successfully', data: book } : NO_SUCH_BOOK;
  }

  async #create(request: IncomingMessage): Promise<Reply> {
    const body = await this.#bodyOf(request);
    if (!body) return TOO_LARGE;
    const fields = this.#fieldsOf(request, body, ['title', 'author', 'year']);
    const isComplete = fields && 'title' in fields && 'author' in fields && 'year' in fields;
    if (!fields || (this.#has('fields of POST are required') && !isComplete)) return INVALID_INPUT;
    const book = { id: 0, title: '', author: '', year: 0, ...fields } as Book;
    const key = String(request.headers['idempotency-key'] ?? '');
    const known = this.#keys.get(key);
    if (known) {
      const isSame =
        known.fields.title === book.title &&
        (known.fields.author === book.author || this.#has('the author is not part of a keyed create')) &&
        known.fields.year === book.year;
      if (!isSame) return { status: 422, message: 'Idempotency key reused' };
      const isCurrent = this.#has('a repeat gets the book as it is now');
      const again = (isCurrent && this.#books.get(known.book.id)) || known.book;
      return { status: 201, message: 'Book created successfully', data: again };
    }
    const data = { ...book, id: await this.#newId(book, body) };
    if (this.#has('a book has a fifth field')) Object.assign(data, { created_at: null });
    if (!this.#has('created books are not stored')) {
      this.#books.set(data.id, data);
      this.#history.record('created', data);
    }
    if (key !== '') this.#keys.set(key, { fields: book, book: { ...data } });
    return { status: this.#has('POST returns 200') ? 200 : 201, message: 'Book created successfully', data };
  }

  async #newId({ title, author, year }: Book, body: Buffer): Promise<number> {
    if (this.#has('the id of a body is used')) {
      const { id } = JSON.parse(body.toString()) as { id?: unknown };
      if (typeof id === 'number' && id > 0) return id;
    }
    if (this.#has('equal books share an id')) {
      const equal = [...this.#books.values()].find(
        (other) => other.title === title && other.author === author && other.year === year,
      );
      if (equal) return equal.id;
    }
    if (this.#has('an id is reused')) return Math.max(0, ...this.#books.keys()) + 1;
    const last = this.#lastId;
    if (this.#has('concurrent creates share an id')) await this.#meetAnother();
    this.#lastId = last + 1;
    return this.#lastId;
  }

  /** Waits for a concurrent request that does the same, which may take a while on a busy machine; then both go on. */
  async #meetAnother(): Promise<void> {
    if (this.#waiting) {
      this.#waiting.resolve();
      this.#waiting = undefined;
      return;
    }
    const waiting = Promise.withResolvers<void>();
    this.#waiting = waiting;
    await Promise.race([waiting.promise, sleep(MEETING_MS_MAX)]);
    if (this.#waiting === waiting) this.#waiting = undefined;
  }

  #list(request: IncomingMessage): Reply {
    const deleted = this.#has('GET /books has deleted books') ? this.#deleted.values() : [];
    const books = [...this.#books.values(), ...deleted]
      .filter((book) => !this.#has('DELETE hides the book from the list only') || !this.#deleted.has(book.id))
      .toSorted((a, b) => a.id - b.id);
    if (this.#has('GET /books omits the newest book')) books.pop();
    if (this.#has('GET /books has the newest first')) books.reverse();
    if (this.#has('GET /books has ten books at most')) books.splice(10);
    const isNull = books.length === 0 && this.#has('GET /books is null when empty');
    const query = new URL(request.url ?? '', 'http://localhost').searchParams;
    if (query.has('limit')) return this.#page(books, query);
    return { status: 200, message: 'Books retrieved successfully', data: isNull ? null : books };
  }

  #page(books: readonly Book[], query: URLSearchParams): Reply {
    const limit = Number(query.get('limit'));
    if (!(limit >= 1 && limit <= 1_000)) return { status: 400, message: 'Invalid query' };
    const [from, after] = [Number(query.get('from') ?? 0), Number(query.get('after') ?? -1)];
    const left = books.filter(({ id }) => id >= from && id > after);
    const page = left.slice(0, this.#has('a page has one book too many') ? limit + 1 : limit);
    const last = (page.at(-1)?.id ?? 0) + (this.#has('the next page leaves out a book') ? 1 : 0);
    const isEnd = left.length <= page.length && !this.#has('the last page has a Link');
    const next = this.#has('the next page begins with the last book') && limit > 1 ? last - 1 : last;
    return {
      status: 200,
      message: 'Books retrieved successfully',
      data: page,
      headers: isEnd ? {} : { Link: `</books?limit=${limit}&after=${next}>; rel="next"` },
    };
  }

  async #update(request: IncomingMessage, book: Book | undefined): Promise<Reply> {
    const body = await this.#bodyOf(request);
    if (!body && this.#has('PUT checks the size before the book')) return TOO_LARGE;
    const changes = body && this.#fieldsOf(request, body, ['title', 'author', 'year']);
    if (!changes && this.#has('PUT checks the body before the book')) return INVALID_INPUT;
    if (!book) return NO_SUCH_BOOK;
    if (!body) return TOO_LARGE;
    if (!changes) {
      if (this.#has('a bad body in PUT still changes the book')) await this.#apply({ title: '?' }, book.id);
      return INVALID_INPUT;
    }
    const updated = await this.#apply(changes, book.id);
    const data = this.#has('PUT returns the book before the update') ? book : updated;
    return { status: 200, message: 'Book updated successfully', data };
  }

  async #apply(changes: Partial<Record<Field, string | number>>, id: number): Promise<Book> {
    const stored = this.#books.get(id);
    if (this.#has('PUT reads, waits and writes')) await this.#meetAnother();
    const kept = this.#has('PUT replaces absent fields') ? { id, title: '', author: '', year: 0 } : stored;
    const counting = Object.entries(changes).filter(([, value]) => value || !this.#has('PUT skips "" and 0'));
    const book = { ...kept, ...Object.fromEntries(counting) } as Book;
    const changed = this.#has('PUT changes every book') ? [...this.#books.keys()] : [id];
    for (const other of changed) this.#books.set(other, { ...book, id: other });
    this.#history.record('updated', book, stored);
    return book;
  }

  async #updateMany(request: IncomingMessage): Promise<Reply> {
    const body = await this.#bodyOf(request);
    if (!body) return TOO_LARGE;
    const updates = readUpdates(body, this.#has);
    if (updates === undefined) return INVALID_INPUT;
    if (typeof updates === 'number') return { ...INVALID_INPUT, headers: { 'Invalid-Index': `${updates}` } };
    const fault = faultOf(updates, this.#books, this.#has);
    if (fault && !this.#has('PATCH changes the books before the fault')) return fault;
    const data: (Book | null)[] = [];
    for (const { id, deleted, fields } of updates) {
      const book = this.#books.get(id);
      if (!book) return fault ?? NO_SUCH_BOOK;
      if (deleted) this.#delete(request, book);
      else await this.#apply(fields, id);
      data.push(deleted ? null : (this.#books.get(id) ?? null));
    }
    if (this.#has('PATCH returns the books in order of id')) data.reverse();
    return fault ?? { status: 200, message: 'Books updated successfully', data };
  }

  #restore(id: number): Reply {
    if (this.#books.has(id) && !this.#has('a restore overwrites the book'))
      return { status: 409, message: 'Book exists' };
    const book = this.#history.lastOf(id);
    if (!book) return NO_SUCH_BOOK;
    this.#books.set(id, book);
    this.#deleted.delete(id);
    this.#history.record('created', book);
    return { status: 200, message: 'Book restored successfully', data: book };
  }

  async #restoreMany(request: IncomingMessage): Promise<Reply> {
    const body = await this.#bodyOf(request);
    if (!body) return TOO_LARGE;
    const ids = readIds(body, this.#has);
    if (ids === undefined) return INVALID_INPUT;
    if (typeof ids === 'number') return { ...INVALID_INPUT, headers: { 'Invalid-Index': `${ids}` } };
    const isAtFault = (id: number) => this.#books.has(id) || !this.#history.lastOf(id);
    const index = ids.findIndex(isAtFault);
    if (index !== -1 && !this.#has('a restore of many skips those at fault')) {
      const fault = this.#books.has(ids[index] ?? 0) ? { status: 409, message: 'Book exists' } : NO_SUCH_BOOK;
      return { ...fault, headers: { 'Invalid-Index': `${index}` } };
    }
    const data = ids.filter((id) => !isAtFault(id)).map((id) => this.#restore(id).data as Book);
    if (this.#has('a restore of many has the books in order of id'))
      data.sort((one, other) => one.id - other.id);
    return { status: 200, message: 'Books restored successfully', data };
  }

  #delete(request: IncomingMessage, book: Book | undefined): Reply {
    const announced = request.headers['content-type'];
    if (announced && this.#has('DELETE needs a body when there is a Content-Type')) return INVALID_INPUT;
    if (!book && !this.#has('DELETE of an absent book is 200')) return NO_SUCH_BOOK;
    if (book) {
      this.#deleted.set(book.id, book);
      this.#history.record('deleted', book);
      if (!this.#has('DELETE hides the book from the list only')) this.#books.delete(book.id);
    }
    if (this.#has('DELETE deletes every book')) this.#books.clear();
    const data = this.#has('DELETE returns the book') ? book : null;
    return { status: 200, message: 'Book deleted successfully', data };
  }

  /** The whole body, or undefined when it is too large. May be called repeatedly. */
  #bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
    const body = this.#bodies.get(request) ?? receive(request, this.#has);
    this.#bodies.set(request, body);
    return body;
  }

  #fieldsOf<Name extends Field>(request: IncomingMessage, body: Buffer, names: readonly Name[]) {
    const { 'content-encoding': encoding, 'content-type': type } = request.headers;
    if (encoding && this.#has('every Content-Encoding is rejected')) return undefined;
    const isEncoded = encoding !== undefined && encoding !== 'identity';
    if (isEncoded && !this.#has('Content-Encoding is ignored')) return undefined;
    if (type !== 'application/json' && this.#has('Content-Type must be JSON')) return undefined;
    return readFields(body, names, this.#has);
  }
}

function methodsOf(path: string): readonly string[] | undefined {
  if (path === '/token' || path === '/token/renewal' || path === '/book') return ['POST'];
  if (path === '/books') return ['GET', 'PATCH'];
  if (path === '/changes' || /^\/book\/[^/]+\/history$/.test(path)) return ['GET'];
  if (path === '/books/restore' || /^\/book\/[^/]+\/restore$/.test(path)) return ['POST'];
  return /^\/book\/[^/]+$/.test(path) ? ['GET', 'PUT', 'DELETE'] : undefined;
}

/** The id in a path, or NaN when no book can have it. */
function idOf(path: string, has: Planted): number {
  const [, , text = ''] = path.split('/');
  if (has('ids are parsed leniently')) return Number.parseInt(text, 10);
  if (has('ids have no leading zeros') && text.startsWith('0')) return Number.NaN;
  if (!/^[0-9]+$/.test(text)) return Number.NaN;
  return has('ids are truncated to 64 bits') ? Number(BigInt.asUintN(64, BigInt(text))) : Number(text);
}
