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
  mixed: '📚'.padEnd(4_000, 'x'),
  escapes: String.raw`\u0001`,
} as const;

/** A book as JSON of at most this many bytes. */
function bookOf(text: string, bytes: number): string {
  return `{"title":"${text.repeat(Math.floor((bytes - 12) / Buffer.byteLength(text)))}"}`;
}

function booksOf(text: string, count: number, bytes: number): string {
  return `[${Array.from({ length: count }, () => bookOf(text, bytes / count)).join(',')}]`;
}

/** The long books that are read and updated. */
export const LONG_BOOKS = 60;
export const LONG_BOOK = bookOf(TEXTS.mixed, MEBIBYTE);

/** All loads by name. */
export function loads(): Readonly<Record<string, Load>> {
  const all: Record<string, Load> = {};
  for (const [name, text] of Object.entries(TEXTS)) {
    const body = bookOf(text, MEBIBYTE);
    all[`POST /book of 1 MiB, ${name}`] = { clients: 200, start: 'POST /book', body };
    all[`POST /books of 15 MiB, 16 books, ${name}`] = {
      clients: 8,
      start: 'POST /books',
      body: booksOf(text, 16, 15 * MEBIBYTE),
    };
    all[`POST /books of 15 MiB, 3,000 books, ${name}`] = {
      clients: 8,
      start: 'POST /books',
      body: booksOf(text, 3_000, 15 * MEBIBYTE),
    };
  }
  const body = bookOf(TEXTS.mixed, MEBIBYTE - 20);
  const needsLongBooks = true;
  return {
    ...all,
    'POST /book of 1 MiB with a key': {
      clients: 200,
      start: 'POST /book',
      headers: { 'idempotency-key': '"{number}"' },
      body,
    },
    'PUT of 1 MiB': { clients: 200, start: 'PUT /book/{id}', body, needsLongBooks },
    'PUT of 1 MiB with If-Match': {
      clients: 200,
      start: 'PUT /book/{id}',
      headers: { 'if-match': '*' },
      body,
      needsLongBooks,
    },
    'PUT of a year of long books': {
      clients: 300,
      start: 'PUT /book/{id}',
      body: '{"year":1}',
      needsLongBooks,
    },
    'PUT of a year of long books with If-Match': {
      clients: 300,
      start: 'PUT /book/{id}',
      headers: { 'if-match': '*' },
      body: '{"year":1}',
      needsLongBooks,
    },
    'PATCH of the years of 15 long books': {
      clients: 300,
      start: 'PATCH /books',
      body: JSON.stringify(Array.from({ length: 15 }, (_, index) => ({ id: index + 1, year: 1 }))),
      needsLongBooks,
    },
    'PATCH of 15 MiB, 15 books': {
      clients: 8,
      start: 'PATCH /books',
      body: `[${Array.from({ length: 15 }, (_, index) => body.replace('{', `{"id":${index + 1},`)).join(',')}]`,
      needsLongBooks,
    },
    'GET of long books': { clients: 300, start: 'GET /book/{id}', needsLongBooks },
    'GET of the list of long books': { clients: 200, start: 'GET /books', needsLongBooks },
    'GET of pages of long books': { clients: 200, start: 'GET /books?limit=5', needsLongBooks },
    'searches of long books': {
      clients: 50,
      start: 'GET /books?title=zzzzz&limit=1&count=true',
      needsLongBooks,
    },
  };
}
