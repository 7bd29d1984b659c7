import type { Book } from '../src/book/contract.ts';
import { type ApiResponse, readNumber } from './exchange.ts';

/** The parameters of `GET /books`. Filters are combined with AND. */
export interface BookQuery {
  /** Contained in the title, in any case. */
  readonly title?: string | undefined;
  /** Contained in the author, in any case. */
  readonly author?: string | undefined;
  readonly year?: number | undefined;
  /** The range of years, inclusive. */
  readonly year_from?: number | undefined;
  readonly year_to?: number | undefined;
  /** Words, each a prefix of a word of title or author, in any case and with any accents; without a word, nothing is found. */
  readonly q?: string | undefined;
  /** Whether only books that have a twin are listed, twins one after the other. Excludes `sort` and `from`. */
  readonly twins?: boolean | undefined;
  /** `id` by default; descending with `-` in front. */
  readonly sort?: `${'' | '-'}${keyof Book}` | undefined;
  /** The page size, from 1 to 1,000; 500 by default. It does not limit the whole list. */
  readonly limit?: number | undefined;
  /** The `next` of a page of a list in the same order, to start after that page. */
  readonly after?: string | undefined;
  /** Instead of `after`: the number of books before the first page. */
  readonly offset?: number | undefined;
  /**
   * Instead of `after`: the first page begins at the first book whose title, author, id or year, whichever is the order, is not
   * before this one. Texts are compared by their words.
   */
  readonly from?: string | number | undefined;
  /** Whether pages have `total` and, with `offset` or `from`, the first page `offset`. */
  readonly count?: boolean | undefined;
}

/** The books of one response. */
export interface BookPage {
  readonly books: readonly Book[];
  /** The number of books in the whole list, if the query has `count`. */
  readonly total: number | undefined;
  /** The number of books of the list before this page, if the query has `count`, and `offset` or `from`. */
  readonly offset: number | undefined;
  /** The value of `after` for the next page; undefined when there is none. */
  readonly next: string | undefined;
}

/** All books of a query. Pages are requested when they are needed; each iteration starts from the first. */
export interface BookList extends AsyncIterable<Book> {
  /** The same books, page by page. */
  pages(): AsyncIterableIterator<BookPage>;
}

const PAGE_BOOKS = 500;

/** @param read requests a path, and throws unless the response is a success */
export function createBookList(query: BookQuery, read: (path: string) => Promise<ApiResponse>): BookList {
  async function* pages(): AsyncIterableIterator<BookPage> {
    let search: string | undefined = searchOf(query);
    while (search !== undefined) {
      const { data, headers }: ApiResponse = await read(`books${search}`);
      search = nextOf(headers.get('Link'));
      yield {
        books: data as Book[],
        total: readNumber(headers.get('X-Total-Count')),
        offset: readNumber(headers.get('X-Offset')),
        next: new URLSearchParams(search).get('after') ?? undefined,
      };
    }
  }
  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { books } of pages()) yield* books;
    },
  };
}

function searchOf({ limit = PAGE_BOOKS, count = false, ...others }: BookQuery): string {
  const search = new URLSearchParams({ limit: String(limit), ...(count && { count: 'true' }) });
  for (const [name, value] of Object.entries(others)) {
    if (value !== undefined) search.set(name, String(value));
  }
  return `?${search.toString()}`;
}

/** Only the query of the link (RFC 8288, section 3): a proxy may have other paths, and no other server may get the token. */
export function nextOf(link: string | null): string | undefined {
  for (const [, target = '', parameters = ''] of (link ?? '').matchAll(/<([^>]*)>((?:"[^"]*"|[^",<])*)/g)) {
    const [, quoted, plain] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s";]+))/i.exec(parameters) ?? [];
    const relations = (quoted ?? plain ?? '').toLowerCase().split(/\s+/);
    const query = target.indexOf('?');
    if (relations.includes('next') && query !== -1) return target.slice(query).split('#')[0];
  }
  return undefined;
}
