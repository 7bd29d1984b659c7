import type { Core, Gauge } from '../api/server.ts';
import { respondWith } from '../http/response.ts';
import type { Wing } from '../wing.ts';
import type { BookSearch } from './book-search.ts';
import { openSearch } from './open-search.ts';
import { listBooks } from './operation.ts';
import { SearchHandler } from './search-handler.ts';

/** Searches and sorted lists. */
export const searchWing: Wing = {
  verify: async (client) => (await import('./postgres/schema.ts')).expectIndexRights(client),
  async open(connection, _config, observer) {
    const search = await openSearch(connection, observer);
    return {
      serve: (core) => serveSearch(core, search),
      [Symbol.asyncDispose]: () => search[Symbol.asyncDispose](),
    };
  },
};

/** Adds GET /books with its parameters to a server. @returns its metrics */
export function serveSearch(core: Core, search: BookSearch): readonly Gauge[] {
  const handler = new SearchHandler(search, core);
  core.app.get('/books', { ...core.protect, config: listBooks }, respondWith(handler.handle));
  core.onWritten(() => search.written());
  return [{ name: 'bookkeeping_searches', help: 'Searches in progress.', read: () => handler.count }];
}
