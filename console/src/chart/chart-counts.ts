import { effect, signal, untracked } from '@preact/signals';
import type { BookQuery } from '../../../src/client/index.ts';
import { countBooks, countRevision, firstPage, isLoading, loaded } from '../catalogue/catalogue.ts';
import { view } from '../page/address.ts';
import { signInState } from '../session/session.ts';
import { isChartShown, isNarrow } from './chart-toggle.tsx';
import { type Bar, barsOf, barsOfYears, withUnknown, type Years } from './decades.ts';

/** The bars of the chart, for the books of any year that match the search. */
export const bars = signal<readonly Bar[]>([]);

let controller = new AbortController();
let counted = '';

effect(() => {
  const { q } = view.value;
  const key = JSON.stringify([q, countRevision.value, isNarrow.value]);
  if (signInState.value === 'out') counted = '';
  // The list is loaded first.
  if (signInState.value !== 'in' || isLoading.value || !isChartShown.value || key === counted) return;
  counted = key;
  controller.abort();
  controller = new AbortController();
  const abort = controller.signal;
  untracked(() => countBars({ q: q.trim() === '' ? undefined : q }, abort)).catch(() => {
    if (!abort.aborted) counted = '';
  });
});

/** Counts the books in memory if all are loaded; otherwise the service counts them, with one cheap request per decade. */
async function countBars(query: BookQuery, abort: AbortSignal): Promise<void> {
  // Each bar is at least 24 pixels wide (WCAG 2.2, criterion 2.5.8).
  const barsMax = isNarrow.peek() ? 11 : 24;
  const thisYear = new Date().getFullYear();
  const years = loadedYears();
  if (years) {
    bars.value = barsOfYears(years, thisYear, barsMax);
    return;
  }
  const [bc, ad] = await Promise.all([
    yearsOf({ ...query, year_to: -1 }, abort),
    yearsOf({ ...query, year_from: 1 }, abort),
  ]);
  const next = withUnknown(barsOf(bc, ad, thisYear, barsMax), 1);
  for (const [index, bar] of next.entries()) {
    const { from, to } = bar;
    const count = await countBooks({ ...query, year_from: from, year_to: to }, abort);
    next[index] = { ...bar, count: count ?? 0 };
  }
  bars.value = next.filter(({ kind, count }) => kind !== 'unknown' || count > 0);
}

async function yearsOf(query: BookQuery, abort: AbortSignal): Promise<Years | undefined> {
  const [oldest, newest] = await Promise.all(
    (['year', '-year'] as const).map((sort) => firstPage({ ...query, sort, limit: 1 }, abort)),
  );
  const [first, last] = [oldest?.books[0]?.year, newest?.books[0]?.year];
  return first === undefined || last === undefined ? undefined : { first, last };
}

/** The years of all matching books; undefined when some are not loaded. */
function loadedYears(): number[] | undefined {
  const { from, to } = view.peek();
  if (from !== undefined || to !== undefined || !loaded.isWhole || loaded.count > COUNTED_LOCALLY_MAX)
    return undefined;
  return loaded.books().map(({ year }) => year);
}

const COUNTED_LOCALLY_MAX = 1_000;
