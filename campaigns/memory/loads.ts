import { TEXT_LENGTH_MAX } from '../../src/book/contract.ts';

/** Concurrent requests that need much memory each. */
export interface Load {
  /** The number of clients that send a request concurrently. */
  readonly clients: number;
  /** Method and target; `{id}` stands for the id of one of the long books, which begin at `firstId`. */
  readonly start: string;
  readonly firstId?: number;
  /** Header fields; `{number}` stands for the number of the request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The bodies of requests that store the long books before. */
  readonly books?: readonly string[];
  /** Whether as many short books as the first page has are stored before the long ones, and read. */
  readonly hasShortBooks?: boolean;
}

const MEBIBYTE = 1_024 * 1_024;

/** Texts that need different amounts of memory in relation to their length. */
const TEXTS = {
  plain: 'x',
  emoji: '📚',
  // A character outside Latin-1 makes the whole text take two bytes a character.
  mixed: '📚xxxxxxx',
  escapes: String.raw`\u0001`,
  chinese: '書',
} as const;

/** The longest book of a text. */
function bookOf(text: string): string {
  const characters = Math.floor(
    TEXT_LENGTH_MAX.title / (text === TEXTS.escapes ? 1 : Array.from(text).length),
  );
  const longest = text.repeat(characters);
  return `{"title":"${longest}","author":"${longest}"}`;
}

/** A body with spaces behind it, of so many bytes. */
function padTo(bytes: number, body: string): string {
  return body + ' '.repeat(bytes - Buffer.byteLength(body));
}

/** An array of so many updates. */
function updates(count: number, update: string): string {
  return `[${Array.from({ length: count }, (_, index) => `{"id":${index + 1},${update}}`).join(',')}]`;
}

/** An array of the longest books, at most `count`, of about so many bytes at most. */
function booksOf(text: string, bytes: number, count = 10_000): string {
  const book = bookOf(text);
  const length = Math.min(count, Math.floor(bytes / (Buffer.byteLength(book) + 1)));
  return `[${Array.from({ length }, () => book).join(',')}]`;
}

/** The long books that are read and updated, of which there are at least so many. */
const LONG_BOOKS_BODY = booksOf(TEXTS.mixed, 15 * MEBIBYTE);
export const LONG_BOOKS = 1_800;

/** All loads by name. */
export function loads(): Readonly<Record<string, Load>> {
  const all: Record<string, Load> = {};
  for (const [name, text] of Object.entries(TEXTS)) {
    all[`POST /book of 1 MiB, ${name}`] = {
      clients: 200,
      start: 'POST /book',
      body: padTo(MEBIBYTE, bookOf(text)),
    };
    all[`POST /books of 1 MiB, ${name}`] = {
      clients: 200,
      start: 'POST /books',
      body: booksOf(text, MEBIBYTE),
    };
    all[`POST /books of 15 MiB, ${name}`] = {
      clients: 8,
      start: 'POST /books',
      body: booksOf(text, 15 * MEBIBYTE),
    };
  }
  const books = Array.from({ length: 4 }, () => LONG_BOOKS_BODY);
  return {
    ...all,
    'POST /books of 15 MiB with a key': {
      clients: 8,
      start: 'POST /books',
      headers: { 'idempotency-key': '"{number}"' },
      body: LONG_BOOKS_BODY,
    },
    'PUT of a year of long books with If-Match': {
      clients: 300,
      start: 'PUT /book/{id}',
      headers: { 'if-match': '*' },
      body: '{"year":1}',
      books,
    },
    'PATCH of the years of 900 long books': {
      clients: 300,
      start: 'PATCH /books',
      body: updates(900, '"year":1'),
      books,
    },
    'PATCH of 15 MiB': {
      clients: 8,
      start: 'PATCH /books',
      body: updates(900, bookOf(TEXTS.mixed).slice(1, -1)),
      books,
    },
    'GET of long books': { clients: 300, start: 'GET /book/{id}', books },
    'GET of the list of long books': { clients: 200, start: 'GET /books', books },
    'GET of pages of long books': { clients: 200, start: 'GET /books?limit=1000', books },
    'searches of long books': {
      clients: 50,
      start: 'GET /books?title=zzzzz&limit=1&count=true',
      books,
    },
    ...readsOf('control characters', TEXTS.escapes),
    ...readsOf('Chinese texts', TEXTS.chinese),
  };
}

/** Reads of the longest books of a text: JSON has six bytes for a control character, UTF-8 three for a Chinese one. */
function readsOf(what: string, text: string): Readonly<Record<string, Load>> {
  const books = [booksOf(text, 15 * MEBIBYTE)];
  const clients = 100;
  return {
    [`GET of pages of ${what}, each another one, after short books`]: {
      clients,
      start: 'GET /books?limit=1000&from={id}',
      firstId: 1 + SHORT_BOOKS,
      books,
      hasShortBooks: true,
    },
    [`GET of the list of ${what}, after short books`]: {
      clients,
      start: 'GET /books',
      books,
      hasShortBooks: true,
    },
    [`GET of the sorted list of ${what}, after short books`]: {
      clients,
      start: 'GET /books?sort=year',
      books,
      hasShortBooks: true,
    },
    [`changes of ${what}, each another page`]: {
      clients,
      start: 'GET /changes?limit={id}',
      firstId: 801,
      books,
    },
  };
}

/** The number of books in the longest page. */
const SHORT_BOOKS = 1_000;
export const SHORT_BOOKS_BODY = `[${Array.from({ length: SHORT_BOOKS }, () => '{"year":-1}').join(',')}]`;
