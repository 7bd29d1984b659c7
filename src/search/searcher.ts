import type { BookCount, BookPosition, SearchPage, SearchQuery } from './book-search.ts';
import { hasFieldCondition } from './conditions.ts';
import { needlesOf, searchesNoWord } from './folding.ts';
import { IndexedRun, READ_MAX } from './indexed-run.ts';
import { ScanRun } from './scan-run.ts';
import type { Snapshot, Snapshots } from './snapshot.ts';
import { UnselectivePaths } from './unselective-paths.ts';

/** No books. */
const NOTHING: Pick<SearchPage, 'json' | 'count'> = { json: new Uint8Array(), count: 0 };

/** Searches by the index, or in a store without one by reading all books. */
export class Searcher {
  readonly #snapshots: Snapshots;
  readonly #unselective = new UnselectivePaths();

  constructor(snapshots: Snapshots) {
    this.#snapshots = snapshots;
  }

  async search(query: SearchQuery, limit: number, after?: BookPosition): Promise<SearchPage> {
    if (searchesNoWord(query)) return { ...NOTHING, last: undefined, more: 'no', skip: query.skip ?? 0 };
    const isFar = (query.skip ?? 0) > READ_MAX;
    return this.#run(query, isFar, async (run, snapshot) => {
      const page = await run.find(limit, after);
      const { ids } = page;
      let rendered = NOTHING;
      if (ids.length > 0) {
        do rendered = await snapshot.render(ids);
        while (page.shorten(rendered.json.length));
      }
      return { ...rendered, last: page.last, more: page.more, skip: page.skip };
    });
  }

  async count(query: SearchQuery, after?: BookPosition): Promise<BookCount> {
    if (searchesNoWord(query)) return { count: 0, last: undefined };
    return this.#run(query, true, (run) => run.count(after));
  }

  close(): Promise<void> {
    return this.#snapshots.close();
  }

  /** @param counts whether an index that is up to date takes less time for a list by id */
  #run<Result>(
    query: SearchQuery,
    counts: boolean,
    call: (run: IndexedRun | ScanRun, snapshot: Snapshot) => Promise<Result>,
  ): Promise<Result> {
    const needles = needlesOf(query);
    const needsIndex = query.sort !== 'id' || needles !== undefined || hasFieldCondition(query);
    return this.#snapshots.run(needsIndex || (counts && 'if up to date'), (snapshot) =>
      call(
        'readBooks' in snapshot
          ? new ScanRun(query, needles, snapshot.readBooks)
          : new IndexedRun(query, needles, snapshot, this.#unselective),
        snapshot,
      ),
    );
  }
}
