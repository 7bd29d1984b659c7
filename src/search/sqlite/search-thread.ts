import type { LogPosition } from '../../changes/log-position.ts';
import { openConnection } from '../../store/sqlite/files/connection.ts';
import { serveRequests } from '../../store/sqlite/threads/thread-client.ts';
import type { BookCount, BookPosition, BookQuery, SearchPage } from '../book-search.ts';
import { UnusableIndex } from '../index-wait.ts';
import { Searcher } from '../searcher.ts';
import { BehindTarget } from './index-reader.ts';
import { IndexDamaged, SqliteSnapshots } from './snapshots.ts';

export interface SearchRequest {
  readonly query: BookQuery;
  readonly after: BookPosition | undefined;
  readonly limit: number | 'count';
  /** The last change that the search must see; undefined for the last one that there is. */
  readonly target: LogPosition | undefined;
}

/** What was found, or why the index cannot be used: it does not have the change `target` yet, or is damaged, or is `unusable`. */
export type SearchResponse =
  | { readonly found: SearchPage | BookCount }
  | { readonly target: LogPosition | undefined; readonly isDamaged: boolean }
  | { readonly unusable: string };

await serveRequests<SearchRequest, SearchResponse>(async (path) => {
  const snapshots = new SqliteSnapshots(await openConnection(path));
  const searcher = new Searcher(snapshots);
  return {
    async handle({ query, after, limit, target }) {
      snapshots.target = target;
      try {
        const found = await (limit === 'count'
          ? searcher.count(query, after)
          : searcher.search(query, limit, after));
        return { found };
      } catch (error) {
        if (error instanceof BehindTarget) return { target: error.target, isDamaged: false };
        if (error instanceof IndexDamaged) return { target, isDamaged: true };
        if (error instanceof UnusableIndex) return { unusable: error.reason };
        throw error;
      }
    },
    transfer: (response) =>
      'found' in response && 'json' in response.found && response.found.json.length > 0
        ? [response.found.json.buffer as ArrayBuffer]
        : [],
    close: () => void searcher.close(),
  };
});
