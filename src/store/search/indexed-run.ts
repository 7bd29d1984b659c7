import type { BookCount, BookPosition, BookQuery } from '../../book/book.ts';
import { hasYears, rangesBehind } from './conditions.ts';
import type { AccessPath, IndexStatements, SearchEngine } from './engine-interface.ts';
import type { Needles } from './folding.ts';
import { callDeadline, PageBuilder } from './page-builder.ts';

/**
 * One call of a search by the index: where an access path leads to few books, those are compared and sorted; otherwise an index is
 * walked in the order of the query, until the page is full or the time is up.
 */
export class IndexedRun {
  readonly #query: BookQuery;
  readonly #needles: Needles | undefined;
  readonly #statements: IndexStatements;

  constructor(query: BookQuery, needles: Needles | undefined, engine: SearchEngine) {
    this.#query = query;
    this.#needles = needles;
    this.#statements = engine.indexStatements(query, needles);
  }

  async find(limit: number, after: BookPosition | undefined): Promise<PageBuilder> {
    const page = new PageBuilder(limit, after);
    const path = await this.#selectivePath();
    if (!path) await this.#walk(page);
    else if (page.addAll(await this.#statements.matchesOn(path, after, page.limit + 1))) page.end();
    return page;
  }

  async count(after: BookPosition | undefined): Promise<BookCount> {
    const total = after ? undefined : await this.#countAll();
    if (total !== undefined) return { count: total, last: undefined };
    const deadline = callDeadline();
    let count = 0;
    for (let last = after; ; ) {
      const compared = await this.#statements.countBehind(last);
      count += compared.count;
      last = compared.end;
      if (!last || performance.now() > deadline) return { count, last };
    }
  }

  async #countAll(): Promise<number | undefined> {
    const path = await this.#selectivePath();
    return path ? this.#statements.countOn(path) : this.#statements.countAll();
  }

  async #selectivePath(): Promise<AccessPath | undefined> {
    for (const path of this.#statements.accessPaths)
      if (await this.#statements.isSelective(path)) return path;
    return undefined;
  }

  async #walk(page: PageBuilder): Promise<void> {
    const isComparing = this.#needles !== undefined || (this.#query.sort !== 'year' && hasYears(this.#query));
    let ranges = rangesBehind(this.#query, page.last);
    for (let range = ranges.shift(); range; range = ranges.shift()) {
      const { matches, end } = isComparing
        ? await this.#statements.compareIn(range, page.limit + 1)
        : { matches: await this.#statements.booksIn(range, page.limit + 1), end: undefined };
      if (!page.addAll(matches)) return;
      if (!end) continue;
      if (!page.skipTo(end)) return;
      ranges = rangesBehind(this.#query, end);
    }
    page.end();
  }
}
