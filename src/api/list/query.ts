import { YEAR_MAX } from '../../book/book.ts';
import {
  type BookPosition,
  type BookQuery,
  SORT_KEY_LENGTH,
  SORT_KEYS,
  type SortKey,
} from '../../book/book-store-interface.ts';
import { readCursor } from './cursor.ts';

/** What `GET /books` takes in its query: JSON Schema by name, which requests are read by. All of it is optional. */
export const listParameters = {
  q: {
    type: 'string',
    description: 'Every word begins a word of title or author; case and accents are ignored.',
  },
  title: { type: 'string', description: 'The title contains this text; case is ignored.' },
  author: { type: 'string', description: 'The author contains this text; case is ignored.' },
  year: { type: 'integer', minimum: -YEAR_MAX, maximum: YEAR_MAX, description: 'The year.' },
  year_from: { type: 'integer', minimum: -YEAR_MAX, maximum: YEAR_MAX, description: 'The first year.' },
  year_to: { type: 'integer', minimum: -YEAR_MAX, maximum: YEAR_MAX, description: 'The last year.' },
  sort: {
    type: 'string',
    enum: SORT_KEYS.flatMap((key): Sort[] => [key, `-${key}`]),
    default: 'id',
    description: `The order, descending with a minus in front; texts by their first ${SORT_KEY_LENGTH} code points, ties by ascending id.`,
  },
  limit: { type: 'integer', minimum: 1, maximum: 1_000, description: 'The most books in a page.' },
  after: { type: 'string', minLength: 1, description: 'Where the page before ended: taken from its Link.' },
  count: {
    type: 'boolean',
    default: false,
    description: 'Whether X-Total-Count tells the number of all matches.',
  },
} as const satisfies Record<string, ParameterSchema>;

/** As a query writes it: a key, with a minus in front for descending. */
export type Sort = SortKey | `-${SortKey}`;

interface ParameterSchema {
  readonly type: 'string' | 'integer' | 'boolean';
  readonly description: string;
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: string | boolean;
}

/** A `GET /books` that asks for less than everything, or for more than that. */
export interface ListRequest {
  readonly query: BookQuery;
  readonly sort: Sort;
  /** The most books to answer; all of them when absent. */
  readonly limit: number | undefined;
  readonly after: BookPosition | undefined;
  readonly isCounted: boolean;
}

/**
 * Reads the query of a request target (RFC 3986, section 3.4) as `application/x-www-form-urlencoded`. Parameters that
 * {@link listParameters} does not have are ignored.
 *
 * @returns undefined when it has none of them; `invalid` when one has a wrong value, is malformed or given twice, or
 *   the cursor is none of this sort
 */
export function readListRequest(target: string): ListRequest | 'invalid' | undefined {
  const given = new Map<Name, string>();
  for (const [name, text] of parametersOf(target)) {
    if (!isParameter(name)) continue;
    if (text === undefined || given.has(name) || !isValid(listParameters[name], text)) return 'invalid';
    given.set(name, text);
  }
  if (given.size === 0) return undefined;

  const number = (name: Name) => (given.has(name) ? Number(given.get(name)) : undefined);
  const sort = (given.get('sort') ?? listParameters.sort.default) as Sort;
  const cursor = given.get('after');
  const after = cursor === undefined ? undefined : readCursor(cursor, sort);
  if (cursor !== undefined && after === undefined) return 'invalid';
  const [title, author, q] = [given.get('title'), given.get('author'), given.get('q')];
  return {
    query: {
      sort: sort.replace('-', '') as SortKey,
      isDescending: sort.startsWith('-'),
      ...(title !== undefined && { title }),
      ...(author !== undefined && { author }),
      ...(q !== undefined && { q }),
      yearFrom: Math.max(number('year') ?? -YEAR_MAX, number('year_from') ?? -YEAR_MAX),
      yearTo: Math.min(number('year') ?? YEAR_MAX, number('year_to') ?? YEAR_MAX),
    },
    sort,
    limit: number('limit'),
    after,
    isCounted: given.get('count') === 'true',
  };
}

/**
 * The query that asks for the next page: the same, but for the cursor. What no query may hold is escaped, so that it
 * can stand in a header.
 */
export function queryAfter(target: string, cursor: string): string {
  const others = piecesOf(target).filter((piece) => nameOf(piece) !== 'after');
  return [...others.map((piece) => piece.replace(NOT_IN_QUERY, encodeURIComponent)), `after=${cursor}`].join(
    '&',
  );
}

/** What stands in no query (RFC 3986, section 3.4), and what would end a link or a header early. */
const NOT_IN_QUERY = /[^\w.~!$'()*+,;:@/?=%-]/g;

type Name = keyof typeof listParameters;

function isParameter(name: string): name is Name {
  return Object.hasOwn(listParameters, name);
}

/** The names and values of a query; a value that is no UTF-8 is undefined. */
function parametersOf(target: string): [name: string, text: string | undefined][] {
  return piecesOf(target).map((piece) => {
    const equals = piece.indexOf('=');
    return [nameOf(piece), equals === -1 ? '' : decode(piece.slice(equals + 1))];
  });
}

/** The pieces of a query between its ampersands. Bytes beyond ASCII, which should have been escaped, are. */
function piecesOf(target: string): string[] {
  const mark = target.indexOf('?');
  if (mark === -1) return [];
  return target
    .slice(mark + 1)
    .replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`)
    .split('&')
    .filter((piece) => piece !== '');
}

function nameOf(piece: string): string {
  return decode(piece.split('=', 1)[0] ?? '') ?? '';
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** Whether a text is a value of a parameter; no book holds U+0000, and no engine takes it. */
function isValid(schema: ParameterSchema, text: string): boolean {
  const { type, minimum = -Infinity, maximum = Infinity, minLength = 0 } = schema;
  if (type === 'boolean') return text === 'true' || text === 'false';
  if (type === 'integer')
    return /^-?[0-9]+$/.test(text) && Number(text) >= minimum && Number(text) <= maximum;
  return schema.enum ? schema.enum.includes(text) : text.length >= minLength && !text.includes('\0');
}
