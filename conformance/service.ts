import { randomUUID } from 'node:crypto';
import { Client, type HttpResponse, NoResponse, type Piece, type RequestOptions } from './client.ts';
import { type Book, expectCreated, expectNull, parseObject } from './expect.ts';
import { makeToken, readSegment, type TokenParts } from './tokens.ts';

/** The address and the credentials of a service. */
export interface ServiceOptions {
  /** Scheme, host and port. */
  readonly url: string | URL;
  readonly username: string;
  readonly password: string;
  /** The signing secret; without it some rules are skipped. */
  readonly secret?: string | undefined;
  /** The time limit of a response. Default: {@link TIMEOUT_MS}. */
  readonly timeoutMs?: number | undefined;
  /** Called with every response. */
  readonly onResponse?: ((response: HttpResponse) => Promise<void>) | undefined;
}

/** Longer than any response takes. */
export const TIMEOUT_MS = 10_000;

/** No rule can be checked: the command line is wrong, the service is unreachable or rejects the credentials. */
export class CannotStart extends Error {
  override readonly name = 'CannotStart';
}

/** A service under test, with a client that is logged in and deletes the books it created. */
export class Service implements AsyncDisposable {
  readonly host: string;
  readonly username: string;
  readonly password: string;
  readonly secret: string | undefined;
  readonly #client: Client;
  readonly #onResponse: ServiceOptions['onResponse'];
  readonly #bookIds = new Set<number>();
  #token = '';
  #aheadMs = 0;

  private constructor(options: ServiceOptions) {
    const { url, username, password, secret, timeoutMs = TIMEOUT_MS, onResponse } = options;
    const origin = new URL(url);
    this.host = origin.host;
    this.username = username;
    this.password = password;
    this.secret = secret || undefined;
    this.#client = new Client(origin, timeoutMs);
    this.#onResponse = onResponse;
  }

  /**
   * Logs in. A response other than a token, 401 or 429 is left to the rules.
   *
   * @throws {CannotStart}
   */
  static async open(options: ServiceOptions): Promise<Service> {
    const service = new Service(options);
    try {
      const response = await service.login();
      const reason = response.status === 429 ? 'too many failed logins' : 'username or password';
      if (response.status === 401 || response.status === 429) {
        throw new CannotStart(`the service rejects the login: ${reason} (${response.status})`);
      }
      service.#token = tokenIn(response);
      return service;
    } catch (error) {
      service.#client[Symbol.dispose]();
      if (error instanceof NoResponse) throw new CannotStart(`cannot reach ${service.host}: ${error.reason}`);
      throw error;
    }
  }

  /** Sends a request with the token of this client, unless the headers say otherwise. */
  send(method: string, path: string, options: RequestOptions = {}): Promise<HttpResponse> {
    return this.sendWithoutToken(method, path, {
      ...options,
      headers: { Authorization: this.#token, ...options.headers },
    });
  }

  /** Sends a request without the header `Authorization`, unless the headers name it. */
  async sendWithoutToken(method: string, path: string, options: RequestOptions = {}): Promise<HttpResponse> {
    const type = options.body === undefined ? {} : { 'Content-Type': 'application/json' };
    const response = await this.#client.send(method, path, {
      ...options,
      headers: { ...type, ...options.headers },
    });
    return this.#remember(response);
  }

  /** Sends an HTTP/1.1 request with `Connection: close` and these header lines, as {@link exchange} does. */
  exchangeRequest(
    start: string,
    lines: readonly string[] = [],
    body?: readonly Piece[],
    pauseMs?: number,
  ): Promise<HttpResponse> {
    const head = [`${start} HTTP/1.1`, `Host: ${this.host}`, 'Connection: close', ...lines];
    return this.exchange(head, body, pauseMs);
  }

  /** Sends these bytes (see {@link Client.exchange}). `{token}` stands for the token of this client. */
  async exchange(lines: readonly string[], body?: readonly Piece[], pauseMs?: number): Promise<HttpResponse> {
    const head = lines.map((line) => line.replace('{token}', this.#token));
    return this.#remember(await this.#client.exchange(head, body, pauseMs));
  }

  get(path: string): Promise<HttpResponse> {
    return this.send('GET', path);
  }

  post(path: string, body: Piece | object): Promise<HttpResponse> {
    return this.send('POST', path, { body: inJson(body) });
  }

  put(path: string, body: Piece | object): Promise<HttpResponse> {
    return this.send('PUT', path, { body: inJson(body) });
  }

  delete(path: string): Promise<HttpResponse> {
    return this.send('DELETE', path);
  }

  /** POST /token, with the valid username and password unless a body is given. */
  login(body: Piece | object = { username: this.username, password: this.password }): Promise<HttpResponse> {
    return this.sendWithoutToken('POST', '/token', { body: inJson(body) });
  }

  /** A token that the service issues now. @param scope instead of none */
  async newToken(scope?: string): Promise<string> {
    const { username, password } = this;
    return tokenIn(await this.login({ username, password, scope }));
  }

  /** A token signed here with the secret; it expires in a minute unless the parts say otherwise. */
  sign(parts: TokenParts = {}): string {
    if (this.secret === undefined) throw new Error('the rule needs the secret without declaring it');
    return makeToken(this.secret, { payload: { exp: this.now() + 60 }, ...parts });
  }

  /** Creates a book. */
  async createBook(fields: Partial<Omit<Book, 'id'>> = {}): Promise<Book> {
    const book = { title: 'The Odyssey', author: 'Homer', year: -700, ...fields };
    return expectCreated(await this.post('/book', book), book);
  }

  /** Whether it has the endpoints of the history, which are an addition. */
  async hasHistory(): Promise<boolean> {
    return (await this.get('/changes?limit=1')).status !== 404;
  }

  /** Whether it issues read-only tokens, which are an addition. */
  async hasReadOnlyTokens(): Promise<boolean> {
    const claims = readSegment(await this.newToken('read'), 1);
    return (claims as { scope?: unknown } | undefined)?.scope === 'read';
  }

  /** Whether it renews tokens, which is an addition. */
  async hasTokenRenewal(): Promise<boolean> {
    return (await this.send('POST', '/token/renewal')).status !== 404;
  }

  /** Whether it has pages of the list, which are an addition; others ignore the parameter. */
  async hasPages(): Promise<boolean> {
    return (await this.get('/books?limit=0')).status === 400;
  }

  /** Whether it has idempotency keys, which are an addition; others ignore the header, and create the book. */
  async hasIdempotencyKeys(): Promise<boolean> {
    const headers = { 'Idempotency-Key': randomUUID() };
    const create = async () => (await this.send('POST', '/book', { body: '{}', headers })).body;
    const first = await create();
    return (await create()) === first;
  }

  /** Whether it has PATCH /books, which is an addition. */
  async hasManyBooks(): Promise<boolean> {
    return (await this.send('PATCH', '/books', { body: '[]' })).status !== 405;
  }

  /** An id without a book: that of a book which was created here and deleted. */
  async absentId(): Promise<number> {
    const { id } = await this.createBook();
    expectNull(await this.delete(`/book/${id}`), 200, 'Book deleted successfully');
    return id;
  }

  /** The time of the service in Unix seconds, from its header `Date`: at most two seconds slow, never fast. */
  now(): number {
    return Math.floor((Date.now() + this.#aheadMs) / 1000);
  }

  /** Deletes the books created here. @returns how many could not be deleted */
  async deleteBooks(): Promise<number> {
    for (const id of this.#bookIds) {
      const { status } = await this.delete(`/book/${id}`);
      if (status === 200 || status === 404) this.#bookIds.delete(id);
    }
    return this.#bookIds.size;
  }

  /** The text without password, secret and tokens. */
  redact(text: string): string {
    const confidential = [this.password, this.secret ?? ''].filter((value) => value !== '');
    const spellings = confidential.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]);
    return spellings
      .reduce((redacted, spelling) => redacted.replaceAll(spelling, '<hidden>'), text)
      .replace(/\beyJ[\w-]*(\.[\w=+/-]*)*/g, '<token>');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.deleteBooks().catch(() => undefined);
    this.#client[Symbol.dispose]();
  }

  /** Records the book that a response says was created, and the clock of the service. */
  async #remember(response: HttpResponse): Promise<HttpResponse> {
    const date = Date.parse(response.headers.get('date') ?? '');
    if (!Number.isNaN(date)) this.#aheadMs = date - Date.now();
    if (/^POST \/book\b/.test(response.request) && response.status < 300) {
      const { id } = (parseObject(response.body)?.data ?? {}) as { id?: unknown };
      if (typeof id === 'number') this.#bookIds.add(id);
    }
    await this.#onResponse?.(response);
    return response;
  }
}

/** The token in a response of POST /token, or ''. */
function tokenIn(response: HttpResponse): string {
  const { token } = (parseObject(response.body)?.data ?? {}) as { token?: unknown };
  // Other characters cannot be sent in a header.
  return typeof token === 'string' && /^[\x21-\x7e]*$/.test(token) ? token : '';
}

function inJson(body: Piece | object): Piece {
  return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
}
