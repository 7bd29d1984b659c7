import { YEAR_MAX } from '../../book/book.ts';
import {
  type BookPosition,
  type BookQuery,
  SORT_KEY_LENGTH,
  SORT_KEYS,
  type SortKey,
} from '../../book/book-store-interface.ts';
import { foldText, GAP } from '../../book/folded-text.ts';
import { Invalid } from '../../book/invalid.ts';
import { readCursor, readFrom } from './cursor.ts';

/** The query parameters of `GET /books`, all optional, as JSON Schema. Requests are validated by them. */
export const listParameters = {
  q: {
    type: 'string',
    description:
      'Each of at most 32 words is a prefix of a word in the title or author; case and accents are ignored. Of each text, searches compare the first 8,192 characters.',
  },
  title: { type: 'string', description: 'The title contains this text; case is ignored.' },
  author: { type: 'string', description: 'The author contains this text; case is ignored.' },
  year: { type: 'integer', minimum: -YEAR_MAX, maximum: YEAR_MAX, description: 'The year.' },
  year_from: { type: 'integer', minimum: -YEAR_MAX, maximum: YEAR_MAX, description: 'The earliest year.' },
  year_to: { type: 'integer', minimum: -YEAR_MAX, maximum: YEAR_MAX, description: 'The latest year.' },
  sort: {
    type: 'string',
    enum: SORT_KEYS.flatMap((key): Sort[] => [key, `-${key}`]),
    default: 'id',
    description: `The sort order; descending with a leading minus. Texts are compared by their words, as q compares them, then by their code points, both within the first ${SORT_KEY_LENGTH}; equal ones by id. Descending is the exact reverse.`,
  },
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: 1_000,
    description: 'The maximum number of books in a page.',
  },
  after: { type: 'string', minLength: 1, description: 'The cursor in the Link of the previous page.' },
  offset: {
    type: 'integer',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'The number of matches before the page, instead of after.',
  },
  from: {
    type: 'string',
    description:
      'Instead of after: the page begins at the first book whose key is not before this one, in the order of sort: words for title and author, which the sort key begins with, else an integer.',
  },
  count: {
    type: 'boolean',
    default: false,
    description:
      'Whether X-Total-Count has the number of all matches and, with offset or from, X-Offset that of the matches before the page.',
  },
} as const satisfies Record<string, ParameterSchema>;

export type Sort = SortKey | `-${SortKey}`;

export interface ParameterSchema {
  readonly type: 'string' | 'integer' | 'boolean';
  readonly description: string;
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: string | number | boolean;
}

export interface ListRequest {
  readonly query: BookQuery;
  readonly sort: Sort;
  /** The maximum number of books; undefined for all. */
  readonly limit: number | undefined;
  readonly after: BookPosition | undefined;
  /** Whether `after` is no cursor, so that the number of matches before it is unknown. */
  readonly isFrom: boolean;
  readonly isCounted: boolean;
}

/**
 * Reads the known parameters of a request target, as `application/x-www-form-urlencoded`.
 *
 * @returns Invalid when one has an invalid value or is repeated
 */
export function readParameters<Known extends string>(
  target: string,
  parameters: Readonly<Record<Known, ParameterSchema>>,
): Map<Known, string> | Invalid {
  const given = new Map<Known, string>();
  for (const piece of piecesOf(target)) {
    const name = nameOf(piece) as Known;
    if (!Object.hasOwn(parameters, name)) continue;
    if (given.has(name)) return new Invalid(`${name} is repeated`);
    const text = decode(/=(.*)/s.exec(piece)?.[1] ?? '');
    if (text === undefined || !isValid(parameters[name], text))
      return new Invalid(`${name} must be ${expectation(parameters[name])}`);
    given.set(name, text);
  }
  return given;
}

/** Reads the target of `GET /books`; undefined when it has no known parameter. */
export function readListRequest(target: string): ListRequest | Invalid | undefined {
  const given = readParameters<Name>(target, listParameters);
  if (given instanceof Invalid) return given;
  if (given.size === 0) return undefined;

  const number = (name: Name) => (given.has(name) ? Number(given.get(name)) : undefined);
  const sort = (given.get('sort') ?? listParameters.sort.default) as Sort;
  const after = readStart(given, sort);
  if (after instanceof Invalid) return after;
  const [title, author, q] = [given.get('title'), given.get('author'), given.get('q')];
  if (
    foldText(q ?? '')
      .split(GAP)
      .filter(Boolean).length > WORDS_MAX
  )
    return new Invalid(`q must have at most ${WORDS_MAX} words`);
  return {
    query: {
      sort: sort.replace('-', '') as SortKey,
      isDescending: sort.startsWith('-'),
      ...(title !== undefined && { title }),
      ...(author !== undefined && { author }),
      ...(q !== undefined && { q }),
      yearFrom: Math.max(number('year') ?? -YEAR_MAX, number('year_from') ?? -YEAR_MAX),
      yearTo: Math.min(number('year') ?? YEAR_MAX, number('year_to') ?? YEAR_MAX),
      ...(given.has('offset') && { skip: Number(given.get('offset')) }),
    },
    sort,
    limit: number('limit'),
    after,
    isFrom: given.has('from'),
    isCounted: given.get('count') === 'true',
  };
}

/** The most words of `q`, each of which is compared with every candidate. */
const WORDS_MAX = 32;

/** The position after which the page begins; undefined for the start of the list. */
function readStart(given: ReadonlyMap<Name, string>, sort: Sort): BookPosition | Invalid | undefined {
  if (STARTS.filter((name) => given.has(name)).length > 1)
    return new Invalid(`${STARTS.join(', ')} exclude each other`);
  const [cursor, from] = [given.get('after'), given.get('from')];
  if (cursor !== undefined)
    return readCursor(cursor, sort) ?? new Invalid(`after must be a cursor of sort=${sort}`);
  if (from === undefined) return undefined;
  return (
    readFrom(from, sort) ?? new Invalid(`from must be ${expectation(listParameters.year)} with sort=${sort}`)
  );
}

/** The query of the next page: the same with the cursor as its start, escaped for a header. */
export function queryAfter(target: string, cursor: string): string {
  const others = piecesOf(target)
    .filter((piece) => !STARTS.includes(nameOf(piece) as Name))
    .map((piece) => piece.replace(NOT_IN_QUERY, encodeURIComponent));
  return [...others, `after=${cursor}`].join('&');
}

/** The parameters that say where a page begins. */
const STARTS: readonly Name[] = ['after', 'offset', 'from'];

/** Characters that are invalid in a query (RFC 3986, section 3.4), or would end a link or a header. */
const NOT_IN_QUERY = /[^\w.~!$'()*+,;:@/?=%-]/g;

type Name = keyof typeof listParameters;

/** The pieces of a query between its ampersands, with bytes outside ASCII escaped. */
function piecesOf(target: string): string[] {
  const query = /\?(.*)/s.exec(target)?.[1] ?? '';
  return query
    .replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`)
    .split('&')
    .filter((piece) => piece !== '');
}

function nameOf(piece: string): string {
  return decode(piece.split('=', 1)[0] ?? '') ?? '';
}

/** @returns undefined when the text is not escaped UTF-8 */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** Also rejects U+0000, which no engine accepts. */
function isValid(schema: ParameterSchema, text: string): boolean {
  const { type, minimum = -Infinity, maximum = Infinity, minLength = 0 } = schema;
  if (type === 'boolean') return text === 'true' || text === 'false';
  if (type === 'integer')
    return /^-?[0-9]+$/.test(text) && Number(text) >= minimum && Number(text) <= maximum;
  return schema.enum ? schema.enum.includes(text) : text.length >= minLength && !text.includes('\0');
}

/** What {@link isValid} accepts. */
function expectation(schema: ParameterSchema): string {
  const { type, minimum, maximum, minLength = 0 } = schema;
  if (type === 'boolean') return 'true or false';
  if (type === 'integer') return `an integer from ${minimum} to ${maximum}`;
  if (schema.enum) return `one of ${schema.enum.join(', ')}`;
  return `${minLength > 0 ? 'non-empty ' : ''}text in percent-encoded UTF-8, without U+0000`;
}
