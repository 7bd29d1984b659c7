import type { BookCount, BookPosition, SearchPage, SearchQuery } from './book-search.ts';
import { hasFieldCondition } from './conditions.ts';
import { needlesOf, searchesNoWord } from './folding.ts';
import { IndexedRun, READ_MAX } from './indexed-run.ts';
import { ScanRun } from './scan-run.ts';
import type { IndexUse, Outcome, Snapshot, Snapshots } from './snapshot.ts';
import { UnselectivePaths } from './unselective-paths.ts';

/** No books. */
const NOTHING: Pick<SearchPage, 'json' | 'count'> = { json: new Uint8Array(), count: 0 };

/** Searches by the index, or in a store without one by reading all books. What `arrivedAt` is, {@link Snapshots.run} says. */
export class Searcher {
  readonly #snapshots: Snapshots;
  readonly #unselective = new UnselectivePaths();

  constructor(snapshots: Snapshots) {
    this.#snapshots = snapshots;
  }

  async search(
    query: SearchQuery,
    limit: number,
    after?: BookPosition,
    arrivedAt?: bigint,
  ): Promise<Outcome<SearchPage>> {
    if (searchesNoWord(query))
      return { found: { ...NOTHING, last: undefined, more: 'no', skip: query.skip ?? 0 } };
    const isFar = (query.skip ?? 0) > READ_MAX;
    const use = needsIndex(query) ? 'required' : isFar ? 'if up to date' : 'none';
    const find = async (run: IndexedRun | ScanRun, snapshot: Snapshot) => {
      const page = await run.find(limit, after);
      const { ids } = page;
      let rendered = NOTHING;
      if (ids.length > 0) {
        do rendered = await snapshot.render(ids);
        while (page.shorten(rendered.json.length));
      }
      return { ...rendered, last: page.last, more: page.more, skip: page.skip };
    };
    return this.#run(query, use, find, arrivedAt);
  }

  async count(query: SearchQuery, after?: BookPosition, arrivedAt?: bigint): Promise<Outcome<BookCount>> {
    if (searchesNoWord(query)) return { found: { count: 0, last: undefined } };
    const use = needsIndex(query) ? 'required' : 'if up to date';
    return this.#run(query, use, (run) => run.count(after), arrivedAt);
  }

  close(): Promise<void> {
    return this.#snapshots.close();
  }

  #run<Found>(
    query: SearchQuery,
    use: IndexUse,
    call: (run: IndexedRun | ScanRun, snapshot: Snapshot) => Promise<Found>,
    arrivedAt: bigint | undefined,
  ): Promise<Outcome<Found>> {
    const needles = needlesOf(query);
    const search = (snapshot: Snapshot) =>
      call(
        'readBooks' in snapshot
          ? new ScanRun(query, needles, snapshot.readBooks)
          : new IndexedRun(query, needles, snapshot, this.#unselective),
        snapshot,
      );
    return this.#snapshots.run(use, search, arrivedAt);
  }
}

/** Whether the index alone has the order of a query, or compares what it asks for: all but a list of all books by id. */
function needsIndex(query: SearchQuery): boolean {
  return query.sort !== 'id' || needlesOf(query) !== undefined || hasFieldCondition(query);
}
