import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import type { Book } from '../../src/book/contract.ts';
import { type BookPosition, SORT_KEY_LENGTH, SORT_KEYS } from '../../src/search/book-search.ts';
import { writeCursor } from '../../src/search/cursor.ts';
import type { RawResponse } from '../../testkit/connection.ts';
import { keyOf } from '../../testkit/folding-reference.ts';
import { PARAMETERS } from '../../testkit/search-corpus.ts';
import { expectedBooks, type Parameters } from '../../testkit/search-reference.ts';
import { LITERALS, words } from './corpus.ts';

/** A `GET /books` with a query. */
export interface Search {
  readonly path: string;
  /** A valid query, or whether it is invalid; 'unknown' for arbitrary bytes, for which only the engines are compared. */
  readonly query: Query | 'invalid' | 'unknown';
}

interface Query {
  /** The parameters before they are encoded, without `after`. */
  readonly parameters: Parameters;
  /** The book of the cursor, which need not exist. */
  readonly after: Book | undefined;
}

const NAMES = words(`q title author year year_from year_to sort limit after offset from count
  Q q[] %71 %FF page __proto__ constructor toString`);

/** Each of these makes a query invalid, in any position. */
const INVALID = words(`q=%00 title=a%00b author=%ff title=%c0%80 q=%zz q=% q=a&q=a %71=&q=
  year= year=x year=1.0 year=+1 year=1e3 year=%D9%A1 year=9007199254740992 year_from=%20 year_to=--1
  sort= sort=publisher sort=--id sort=ID sort=id,title limit= limit=0 limit=-1 limit=1001 limit=x limit=1&limit=1
  count= count=1 count=TRUE offset= offset=-1 offset=x offset=0&after=x
  sort=id&from=x offset=1&from=1 sort=year&from= sort=-id&from=1.0 sort=title&from=%ff after= after=1 after=AAAA after=WyJpZCIsMSwxXQ== after=%ff
  twins= twins=1 twins=true&sort=id sort=-title&twins=true twins=true&from=1
  sort=-year&after=${writeCursor('title', { key: 'a', id: 1 })}
  sort=year&after=${writeCursor('year', { key: 'a', id: 1 })}
  sort=id&after=${writeCursor('id', { key: 2, id: 1 })}
  sort=title&after=${writeCursor('title', { key: '\0', id: 1 })}
  sort=author&after=${writeCursor('author', { key: 'x'.repeat(SORT_KEY_LENGTH + 1), id: 1 })}`);

/** Parts of the texts of stored books, and arbitrary texts. */
const texts = fc.oneof(
  fc
    .tuple(fc.constantFrom(...LITERALS.flatMap(stringsIn)), fc.nat(8), fc.nat(8))
    .map(([text, start, length]) =>
      Array.from(text)
        .slice(start, start + length)
        .join(''),
    ),
  fc.string({ unit: 'binary', maxLength: 5 }).filter((text) => !text.includes('\0')),
);
const years = fc.constantFrom('0', '-0', '1', '1000', '1999', '19990', '-750', '007', '9007199254740991');

const validParameters: fc.Arbitrary<Parameters> = fc
  .tuple(
    fc.oneof(
      PARAMETERS,
      fc.record(
        { q: texts, title: texts, author: texts, year: years, year_from: years, year_to: years },
        { requiredKeys: [] },
      ),
    ),
    fc.record(
      {
        sort: fc.constantFrom(...SORT_KEYS.flatMap((key) => [key, `-${key}`])),
        limit: fc.constantFrom('1', '2', '10', '0100', '1000'),
        count: fc.constantFrom('true', 'false'),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([filters, others]) => ({ ...withoutStart(filters), ...others }));

const validSearches = fc
  .tuple(
    validParameters,
    fc.option(fc.record({ id: fc.integer({ min: 1, max: 60 }), text: texts, year: years.map(Number) })),
    fc.constantFrom('after', 'after', 'offset', 'from'),
    fc.constantFrom('', '', '&page=%ff', '&Q=%', '&&'),
  )
  .map(([filters, position, start, ignored]): Search & { query: Query } => {
    const { sort = 'id' } = filters;
    const book = position && {
      id: position.id,
      title: position.text,
      author: position.text,
      year: position.year,
    };
    const starts = book && {
      after: writeCursor(sort, positionOf(book, sort)),
      offset: `${book.id}`,
      from: `${book[sort.replace('-', '') as keyof Book]}`,
    };
    const given = { ...filters, ...(starts && { [start]: starts[start] }) };
    const pieces = Object.entries(given).map(([name, text]) => `${name}=${encodeURIComponent(text)}`);
    const path = `/books?${pieces.join('&')}${ignored}`;
    const { after, ...parameters } = given as Parameters;
    return { path, query: { parameters, after: after === undefined ? undefined : (book ?? undefined) } };
  });

const invalidSearches = fc
  .tuple(validSearches, fc.constantFrom(...INVALID), fc.boolean())
  .map(([{ path }, piece, isFirst]): Search => {
    const changed = isFirst ? path.replace('?', `?${piece}&`) : `${path}&${piece}`;
    return { path: changed, query: 'invalid' };
  });

const unknownSearches = fc
  .array(
    fc.tuple(
      fc.constantFrom(...NAMES),
      fc.oneof(
        fc
          .uint8Array({ maxLength: 12 })
          .map((bytes) => Buffer.from(bytes.map((byte) => Math.max(byte, 0x21)))),
        fc
          .uint8Array({ maxLength: 60 })
          .map((bytes) => Buffer.from(Buffer.from(bytes).toString('base64url'))),
        texts.map((text) => Buffer.from(encodeURIComponent(text))),
      ),
    ),
    { maxLength: 4 },
  )
  .map((pieces): Search => {
    const query = pieces.map(([name, bytes]) => `${name}=${bytes.toString('latin1')}`).join('&');
    return { path: `/books?${query}`, query: 'unknown' };
  });

export const searches: fc.Arbitrary<Search> = fc.oneof(
  { weight: 4, arbitrary: validSearches },
  { weight: 1, arbitrary: invalidSearches },
  { weight: 1, arbitrary: unknownSearches },
);

/** Asserts the response to a search of these books: the books to the byte, the total and the link to the next page. */
export function assertFound(
  books: readonly Book[],
  { parameters, after }: Query,
  { headers, body }: RawResponse,
): void {
  const { sort = 'id', limit, count, offset, from } = parameters;
  const matches = expectedBooks(books, withoutStart(parameters));
  const following = expectedBooks(after ? booksAfter(books, sort, after) : books, parameters);
  const hasOffset = count === 'true' && (offset ?? from) !== undefined;
  const page = following.slice(0, limit === undefined ? following.length : Number(limit));
  const last = page.at(-1);
  const cursor =
    last && page.length < following.length ? writeCursor(sort, positionOf(last, sort)) : undefined;
  const message = 'Books retrieved successfully';
  assert.equal(body, JSON.stringify({ status: 200, message, data: page }));
  assert.equal(headers.get('x-total-count'), count === 'true' ? `${matches.length}` : null);
  assert.equal(headers.get('x-offset'), hasOffset ? `${matches.length - following.length}` : null);
  assert.equal(/[?&]after=([\w-]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1], cursor);
}

function withoutStart({ offset: _offset, from: _from, ...filters }: Parameters): Parameters {
  return filters;
}

/** The books after a position in an order. */
function booksAfter(books: readonly Book[], sort: string, book: Book): Book[] {
  const order = expectedBooks([...books, book], { sort });
  return order.slice(order.indexOf(book) + 1);
}

function positionOf(book: Book, sort: string): BookPosition {
  const key = book[sort.replace('-', '') as keyof Book];
  return { id: book.id, key: typeof key === 'string' ? keyOf(key) : key };
}

/** The value of a literal of JSON, if it is a string. */
function stringsIn(literal: string): string[] {
  try {
    const value: unknown = JSON.parse(literal);
    return typeof value === 'string' && value.isWellFormed() && !value.includes('\0') ? [value] : [];
  } catch {
    return [];
  }
}
