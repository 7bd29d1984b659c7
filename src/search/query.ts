import { YEAR_MAX } from '../book/book.ts';
import { typedWords } from '../book/folded-text.ts';
import {
  expectation,
  invalidQuery,
  type ParameterSchema,
  readParameters,
  STARTS,
} from '../http/query-parameters.ts';
import { Rejection } from '../http/rejection.ts';
import {
  type BookPosition,
  type ListOrder,
  type SearchQuery,
  SORT_KEY_LENGTH,
  SORT_KEYS,
  type SortKey,
} from './book-search.ts';
import { readCursor, readFrom } from './cursor.ts';

/** The query parameters of `GET /books`, all optional, as JSON Schema. Requests are validated by them. */
export const listParameters = {
  q: {
    type: 'string',
    description:
      'Each of at most 32 words is a prefix of a word in the title or author; case and accents are ignored. Without a word, nothing is found. Of each text, searches compare the first 8,192 characters.',
  },
  title: { type: 'string', description: 'The title contains this text; case is ignored.' },
  author: { type: 'string', description: 'The author contains this text; case is ignored.' },
  year: { type: 'integer', minimum: -YEAR_MAX, maximum: YEAR_MAX, description: 'The year.' },
  year_from: { type: 'integer', minimum: -YEAR_MAX, maximum: YEAR_MAX, description: 'The earliest year.' },
  year_to: { type: 'integer', minimum: -YEAR_MAX, maximum: YEAR_MAX, description: 'The latest year.' },
  twins: {
    type: 'boolean',
    default: false,
    description:
      'Whether only books that have a twin are listed, twins one after the other, instead of sort and from. Twins have the same words in title and author, as q compares them, and years that are at most one apart or 0.',
  },
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

type Sort = SortKey | `-${SortKey}`;
/** The order of a list, as cursors have it. */
type Order = Sort | 'twins';

export interface ListRequest {
  readonly query: SearchQuery;
  readonly sort: Order;
  /** The maximum number of books; undefined for all. */
  readonly limit: number | undefined;
  readonly after: BookPosition | undefined;
  /** Whether `after` is no cursor, so that the number of matches before it is unknown. */
  readonly isFrom: boolean;
  readonly isCounted: boolean;
}

/** Reads the target of `GET /books`; undefined when it has no known parameter. */
export function readListRequest(target: string): ListRequest | Rejection | undefined {
  const given = readParameters<Name>(target, listParameters);
  if (given instanceof Rejection) return given;
  if (given.size === 0) return undefined;

  const number = (name: Name) => (given.has(name) ? Number(given.get(name)) : undefined);
  const isOfTwins = given.get('twins') === 'true';
  if (isOfTwins && (given.has('sort') || given.has('from')))
    return invalidQuery('twins excludes sort and from');
  const sort = isOfTwins ? 'twins' : ((given.get('sort') ?? listParameters.sort.default) as Sort);
  const after = readStart(given, sort);
  if (after instanceof Rejection) return after;
  const [title, author, q] = [given.get('title'), given.get('author'), given.get('q')];
  if (typedWords(q ?? '').length > WORDS_MAX) return invalidQuery(`q must have at most ${WORDS_MAX} words`);
  return {
    query: {
      sort: sort.replace('-', '') as ListOrder,
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

/** The limit of a request for a page of all books in the order of id, which the core reads; undefined for other requests. */
export function limitOfPlainPage({ query, limit, isCounted }: ListRequest): number | undefined {
  const { sort, isDescending, skip, yearFrom, yearTo, ...texts } = query;
  const isOfAll = yearFrom === -YEAR_MAX && yearTo === YEAR_MAX && Object.keys(texts).length === 0;
  return isOfAll && sort === 'id' && !isDescending && skip === undefined && !isCounted ? limit : undefined;
}

/** The most words of `q`, each of which is compared with every candidate. */
const WORDS_MAX = 32;

/** The position after which the page begins; undefined for the start of the list. */
function readStart(given: ReadonlyMap<Name, string>, sort: Order): BookPosition | Rejection | undefined {
  if (STARTS.filter((name) => given.has(name)).length > 1)
    return invalidQuery(`${STARTS.join(', ')} exclude each other`);
  const [cursor, from] = [given.get('after'), given.get('from')];
  if (cursor !== undefined)
    return readCursor(cursor, sort) ?? invalidQuery(`after must be a cursor of sort=${sort}`);
  if (from === undefined) return undefined;
  return (
    readFrom(from, sort) ?? invalidQuery(`from must be ${expectation(listParameters.year)} with sort=${sort}`)
  );
}

type Name = keyof typeof listParameters;
