import { openConnection } from '../../store/sqlite/files/connection.ts';
import { serveRequests, ThreadClient } from '../../store/sqlite/threads/thread-client.ts';
import type { BookCount, BookPosition, BookQuery, SearchPage } from '../book-search.ts';
import { Searcher } from '../searcher.ts';
import { SqliteSearchEngine } from './engine.ts';

export interface SearchRequest {
  readonly query: BookQuery;
  readonly after: BookPosition | undefined;
  readonly limit: number | 'count';
}

export interface SearchResponse {
  readonly found: SearchPage | BookCount;
  readonly indexFailure: string | undefined;
}

const INDEX_THREAD = new URL('./index-thread.ts', import.meta.url);

await serveRequests<SearchRequest, SearchResponse>(async (path) => {
  const startBuilder = () => ThreadClient.start<void, boolean>(INDEX_THREAD, path);
  const engine = new SqliteSearchEngine(await openConnection(path), startBuilder);
  const searcher = new Searcher(engine);
  return {
    async handle({ query, after, limit }) {
      const found = await (limit === 'count'
        ? searcher.count(query, after)
        : searcher.search(query, limit, after));
      return { found, indexFailure: engine.indexFailure };
    },
    transfer: ({ found }) =>
      'json' in found && found.json.length > 0 ? [found.json.buffer as ArrayBuffer] : [],
    close: () => void searcher.close(),
  };
});
