import { effect, type ReadonlySignal, signal } from '@preact/signals';
import type { BookQuery } from '../../../src/client/index.ts';
import type { BookList } from './book-list.ts';
import { type Bar, barsOf, barsOfYears, withUnknown, type Years } from './decades.ts';
import { request } from './found-books.ts';
import type { ShownView } from './view.ts';

const COUNTED_LOCALLY_MAX = 1_000;

interface ChartedBooks {
  readonly list: BookList;
  readonly address: ShownView;
}

/** The bars of the chart, for the books of any year that match the search. */
export class ChartCounts {
  readonly bars = signal<readonly Bar[]>([]);
  /** Stops counting. */
  readonly close: () => void;
  readonly #app: ChartedBooks;

  /** @param isSmall whether there is room for a few bars only */
  constructor(app: ChartedBooks, isSmall: ReadonlySignal<boolean>) {
    this.#app = app;
    const { list, address } = app;
    let counted = '';
    this.close = effect(() => {
      const { q } = address.view.value;
      const key = JSON.stringify([q, list.countRevision.value, isSmall.value]);
      // The list is loaded first.
      if (list.isLoading.value || key === counted) return undefined;
      // Each bar is at least 24 pixels wide (WCAG 2.2, criterion 2.5.8).
      const barsMax = isSmall.value ? 11 : 24;
      return request(async (abort) => {
        await this.#count({ q: q.trim() === '' ? undefined : q }, barsMax, abort);
        counted = key;
      });
    });
  }

  /** Counts the books in memory if all are loaded; otherwise the service counts them, with one cheap request per decade. */
  async #count(query: BookQuery, barsMax: number, abort: AbortSignal): Promise<void> {
    const thisYear = new Date().getFullYear();
    const years = this.#loadedYears();
    if (years) {
      this.bars.value = barsOfYears(years, thisYear, barsMax);
      return;
    }
    const [bc, ad] = await Promise.all([
      this.#yearsOf({ ...query, year_to: -1 }, abort),
      this.#yearsOf({ ...query, year_from: 1 }, abort),
    ]);
    const next = withUnknown(barsOf(bc, ad, thisYear, barsMax), 1);
    for (const [index, bar] of next.entries()) {
      const { from, to } = bar;
      const count = await this.#app.list.count({ ...query, year_from: from, year_to: to }, abort);
      next[index] = { ...bar, count: count ?? 0 };
    }
    this.bars.value = next.filter(({ kind, count }) => kind !== 'unknown' || count > 0);
  }

  async #yearsOf(query: BookQuery, abort: AbortSignal): Promise<Years | undefined> {
    const [oldest, newest] = await Promise.all(
      (['year', '-year'] as const).map((sort) =>
        this.#app.list.firstPage({ ...query, sort, limit: 1 }, abort),
      ),
    );
    const [first, last] = [oldest?.books[0]?.year, newest?.books[0]?.year];
    return first === undefined || last === undefined ? undefined : { first, last };
  }

  /** The years of all matching books; undefined when some are not loaded. */
  #loadedYears(): number[] | undefined {
    const { from, to } = this.#app.address.view.peek();
    const { loaded } = this.#app.list;
    const isAll = from === undefined && to === undefined && loaded.isWhole;
    return isAll && loaded.count <= COUNTED_LOCALLY_MAX ? loaded.books().map(({ year }) => year) : undefined;
  }
}
