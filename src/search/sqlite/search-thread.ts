import { isStatementFailure, reasonOf } from '../../store/sqlite/errors.ts';
import { openWithoutCheckpoints } from '../../store/sqlite/files/connection.ts';
import { serveRequests } from '../../store/sqlite/threads/thread-server.ts';
import type { BookCount, BookPosition, SearchPage, SearchQuery } from '../book-search.ts';
import { type Progress, UnusableIndex } from '../index-wait.ts';
import { Searcher } from '../searcher.ts';
import type { Outcome } from '../snapshot.ts';
import { SqliteSnapshots } from './snapshots.ts';

export interface SearchRequest {
  readonly query: SearchQuery;
  readonly after: BookPosition | undefined;
  readonly limit: number | 'count';
  /** In nanoseconds of `process.hrtime`. */
  readonly arrivedAt: bigint;
}

export type SearchResponse = Outcome<SearchPage | BookCount> | IndexResponse;

/** How far the index is, after an update or when a search needs more of it; or why it cannot be used, with what of it is for clients. */
export type IndexResponse =
  | { readonly progress: Progress }
  | { readonly unusable: string; readonly detail: string | undefined };

/** Searches the index, or only updates it, in a step. */
await serveRequests<SearchRequest | 'update', SearchResponse>(async (path) => {
  const store = await openWithoutCheckpoints(path);
  const snapshots = new SqliteSnapshots(store);
  const searcher = new Searcher(snapshots);
  return {
    async handle(request) {
      try {
        if (request === 'update') return { progress: await snapshots.update() };
        const { query, after, limit, arrivedAt } = request;
        return await (limit === 'count'
          ? searcher.count(query, after, arrivedAt)
          : searcher.search(query, limit, after, arrivedAt));
      } catch (error) {
        if (error instanceof UnusableIndex) return { unusable: error.reason, detail: error.reason };
        const reason = reasonOf(error);
        // A statement that is wrong is a defect: its message and its stack are for the log.
        if (reason === undefined || isStatementFailure(error)) throw error;
        return { unusable: reason, detail: undefined };
      }
    },
    transfer: (response) =>
      'found' in response && 'json' in response.found && response.found.json.length > 0
        ? [response.found.json.buffer as ArrayBuffer]
        : [],
    close: () => void searcher.close(),
  };
});
