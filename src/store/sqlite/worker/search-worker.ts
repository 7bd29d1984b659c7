import type { BookCount, BookPosition, BookQuery, SearchPage } from '../../../book/book-store-interface.ts';
import { Searcher } from '../../search/searcher.ts';
import { openConnection } from '../files/connection.ts';
import { SqliteSearchEngine } from '../search/search-engine.ts';
import { serveRequests, WorkerClient } from './worker-client.ts';

export interface SearchRequest {
  readonly query: BookQuery;
  readonly after: BookPosition | undefined;
  readonly limit: number | 'count';
}

export interface SearchResponse {
  readonly found: SearchPage | BookCount;
  readonly indexFailure: string | undefined;
}

const INDEX_WORKER = new URL('./index-worker.ts', import.meta.url);

await serveRequests<SearchRequest, SearchResponse>(async (path) => {
  const startBuilder = () => WorkerClient.start<void, boolean>(INDEX_WORKER, path);
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
