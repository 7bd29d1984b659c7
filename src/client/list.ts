import type { Book } from '../book/contract.ts';
import { type Answer, readNumber } from './exchange.ts';

/**
 * Which books, in which order: the parameters of `GET /books`, by their names there. All of them narrow the list
 * together.
 */
export interface BookQuery {
  /** Contained in the title, in any case. */
  readonly title?: string | undefined;
  /** Contained in the author, in any case. */
  readonly author?: string | undefined;
  readonly year?: number | undefined;
  /** The first year, inclusive. */
  readonly year_from?: number | undefined;
  /** The last year, inclusive. */
  readonly year_to?: number | undefined;
  /** Words with which words of title or author begin, whatever their case and accents. */
  readonly q?: string | undefined;
  /** `id` by default; descending with `-` in front. */
  readonly sort?: `${'' | '-'}${keyof Book}` | undefined;
  /** How many books come in one answer, from 1 to 1,000; 500 by default. However many there are, the list has all. */
  readonly limit?: number | undefined;
  /** Where to begin: the `next` of an earlier page of a list of the same order. */
  readonly after?: string | undefined;
  /** Whether pages say how many books there are in all. */
  readonly count?: boolean | undefined;
}

/** The books of one answer. */
export interface BookPage {
  readonly books: readonly Book[];
  /** How many books the whole list has, where the query asks for `count`. */
  readonly total: number | undefined;
  /** What to ask for `after` to begin with the next page; undefined when there is none. */
  readonly next: string | undefined;
}

/** All books of a query, one after the other. Nothing is asked for before it is wanted; each walk begins anew. */
export interface BookList extends AsyncIterable<Book> {
  /** The same books, as they come from the service. */
  pages(): AsyncIterableIterator<BookPage>;
}

const PAGE_BOOKS = 500;

/** @param read asks for the path and makes sure of the answer */
export function listOf(query: BookQuery, read: (path: string) => Promise<Answer>): BookList {
  async function* pages(): AsyncIterableIterator<BookPage> {
    let search: string | undefined = searchOf(query);
    while (search !== undefined) {
      const { data, headers }: Answer = await read(`books${search}`);
      search = nextOf(headers.get('Link'));
      yield {
        books: data as Book[],
        total: readNumber(headers.get('X-Total-Count')),
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

/**
 * The query of the link to the next page (RFC 8288, section 3). Only that: the token goes nowhere else than to the
 * address that the caller has given, which may lie behind a proxy with other paths.
 */
function nextOf(link: string | null): string | undefined {
  for (const [, target = '', parameters = ''] of (link ?? '').matchAll(/<([^>]*)>((?:"[^"]*"|[^",<])*)/g)) {
    const [, quoted, plain] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s";]+))/i.exec(parameters) ?? [];
    const relations = (quoted ?? plain ?? '').toLowerCase().split(/\s+/);
    const query = target.indexOf('?');
    if (relations.includes('next') && query !== -1) return target.slice(query).split('#')[0];
  }
  return undefined;
}
