import { type Operation, PROTECTED_ERRORS } from '../api/description/operations.ts';
import type { Core, Gauge } from '../api/server.ts';
import type { StoreConnection } from '../store/engine.ts';
import type { StoreObserver } from '../store/observer.ts';
import type { Wing } from '../wing.ts';
import type { BookSearch } from './book-search.ts';
import { listParameters } from './query.ts';
import { SearchHandler } from './search-handler.ts';

/** Searches and sorted lists. */
export const searchWing: Wing = {
  async open(connection, _config, observer) {
    const search = await openSearch(connection, observer);
    return {
      serve: (core) => serveSearch(core, search),
      [Symbol.asyncDispose]: () => search[Symbol.asyncDispose](),
    };
  },
};

/** Opens the searches in the books of an open store; dispose of them before the store. */
export async function openSearch(connection: StoreConnection, observer: StoreObserver): Promise<BookSearch> {
  if (connection.engine === 'sqlite')
    return new (await import('./sqlite/search.ts')).SqliteSearch(connection.path, observer);
  const { PostgresSearch } = await import('./postgres/search.ts');
  return new PostgresSearch(connection, observer);
}

/** Gives GET /books its parameters. @returns metrics */
export function serveSearch(core: Core, search: BookSearch): readonly Gauge[] {
  const handler = new SearchHandler(search, core);
  core.extendList(ADDITIONS, handler.handle);
  core.onWritten(() => search.written());
  return [{ name: 'bookkeeping_searches', help: 'Searches in progress.', read: () => handler.count }];
}

/** What the operation `listBooks` has besides that of the core. */
const ADDITIONS: Partial<Operation> = {
  description:
    'Returns all books, or those that match a query; conditions are combined with AND. Every book that exists during the whole call is in the list once; with a query, one that changes meanwhile may be in it twice, or not. Discard a truncated response.',
  query: listParameters,
  headers: {
    Link: { type: 'string', description: 'The next page, if any, with `rel="next"` (RFC 8288).' },
    'X-Total-Count': {
      type: 'integer',
      minimum: 0,
      description: 'The number of matching books, with `count=true`.',
    },
    'X-Offset': {
      type: 'integer',
      minimum: 0,
      description: 'The number of matches before the page, with `count=true` and `offset` or `from`.',
    },
  },
  errorHeaders: {
    serviceUnavailable: {
      'Error-Detail': {
        type: 'string',
        description: 'Why a search or a sorted list cannot be made yet, for people. Its text may change.',
        examples: ['The search is being prepared (34 %)'],
      },
    },
  },
  errors: ['invalidQuery', ...PROTECTED_ERRORS],
};
