import { effect, type ReadonlySignal, signal } from '@preact/signals';
import type { BookQuery } from 'bookkeeping-client/index.ts';
import type { BookList } from './book-list.ts';
import { type Bar, barsOf, type Years } from './decades.ts';
import { request } from './found-books.ts';
import type { ShownView } from './view.ts';

interface ChartedBooks {
  readonly list: BookList;
  readonly address: ShownView;
}

/** The bars of the chart, for the books of any year that match the search. */
export class ChartCounts {
  readonly bars = signal<readonly Bar[]>([]);
  /** Stops counting. */
  readonly close: () => void;
  readonly #list: BookList;

  /** @param isSmall whether there is room for a few bars only */
  constructor({ list, address }: ChartedBooks, isSmall: ReadonlySignal<boolean>) {
    this.#list = list;
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

  /** Counts with one cheap request per bar. */
  async #count(query: BookQuery, barsMax: number, abort: AbortSignal): Promise<void> {
    const [bc, ad] = await Promise.all([
      this.#yearsOf({ ...query, year_to: -1 }, abort),
      this.#yearsOf({ ...query, year_from: 1 }, abort),
    ]);
    const bars = barsOf(bc, ad, new Date().getFullYear(), barsMax);
    for (const [index, bar] of bars.entries()) {
      const count = await this.#list.count({ ...query, year_from: bar.from, year_to: bar.to }, abort);
      bars[index] = { ...bar, count: count ?? 0 };
    }
    this.bars.value = bars.filter(({ kind, count }) => kind !== 'unknown' || count > 0);
  }

  async #yearsOf(query: BookQuery, abort: AbortSignal): Promise<Years | undefined> {
    const [oldest, newest] = await Promise.all(
      (['year', '-year'] as const).map((sort) => this.#list.firstPage({ ...query, sort, limit: 1 }, abort)),
    );
    const [first, last] = [oldest?.books[0]?.year, newest?.books[0]?.year];
    return first === undefined || last === undefined ? undefined : { first, last };
  }
}
