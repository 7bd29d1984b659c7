import { TEXT_LENGTH_MAX } from '../../src/book/contract.ts';

/** Concurrent requests that need much memory each. */
export interface Load {
  /** The number of clients that send a request concurrently. */
  readonly clients: number;
  /** Method and target; `{id}` stands for the id of one of the long books. */
  readonly start: string;
  /** Header fields; `{number}` stands for the number of the request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Whether the long books are stored first. */
  readonly needsLongBooks?: boolean;
}

const MEBIBYTE = 1_024 * 1_024;

/** Texts that need different amounts of memory in relation to their length. */
const TEXTS = {
  plain: 'x',
  emoji: '📚',
  // A character outside Latin-1 makes the whole text take two bytes a character.
  mixed: '📚xxxxxxx',
  escapes: String.raw`\u0001`,
} as const;

/** The longest book of a text. */
function bookOf(text: string): string {
  const characters = Math.floor(TEXT_LENGTH_MAX / (text === TEXTS.escapes ? 1 : Array.from(text).length));
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

/** The long books that are read and updated. */
export const LONG_BOOKS_BODY = booksOf(TEXTS.mixed, 15 * MEBIBYTE);
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
  const needsLongBooks = true;
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
      needsLongBooks,
    },
    'PATCH of the years of 900 long books': {
      clients: 300,
      start: 'PATCH /books',
      body: updates(900, '"year":1'),
      needsLongBooks,
    },
    'PATCH of 15 MiB': {
      clients: 8,
      start: 'PATCH /books',
      body: updates(900, bookOf(TEXTS.mixed).slice(1, -1)),
      needsLongBooks,
    },
    'GET of long books': { clients: 300, start: 'GET /book/{id}', needsLongBooks },
    'GET of the list of long books': { clients: 200, start: 'GET /books', needsLongBooks },
    'GET of pages of long books': { clients: 200, start: 'GET /books?limit=1000', needsLongBooks },
    'searches of long books': {
      clients: 50,
      start: 'GET /books?title=zzzzz&limit=1&count=true',
      needsLongBooks,
    },
  };
}
