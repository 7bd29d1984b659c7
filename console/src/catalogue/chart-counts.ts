import { effect, signal, untracked } from '@preact/signals';
import type { BookQuery } from '../../../src/client/index.ts';
import { view } from '../page/address.ts';
import { signInState } from '../session/session.ts';
import { bookAt, countRevision, firstPage, isLoading, rowCount, total } from './catalogue.ts';
import { type Bar, barsBetween, countInto } from './decades.ts';

/** The width below which the style sheets use one column. */
const narrow = matchMedia('(width < 40rem)');
export const isNarrow = signal(narrow.matches);
narrow.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches;
});

/** The bars of the chart, for the books of any year that match the search. */
export const bars = signal<readonly Bar[]>([]);

let controller = new AbortController();
let counted = '';

effect(() => {
  const { q } = view.value;
  const key = JSON.stringify([q, countRevision.value, isNarrow.value]);
  if (signInState.value === 'out') counted = '';
  // The list is loaded first.
  if (signInState.value !== 'in' || isLoading.value || key === counted) return;
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
  const years = loadedYears();
  if (years) {
    bars.value = years.length === 0 ? [] : countInto(barsOf(Math.min(...years), Math.max(...years)), years);
    return;
  }
  const [oldest, newest] = await Promise.all(
    (['year', '-year'] as const).map((sort) => firstPage({ ...query, sort, limit: 1 }, abort)),
  );
  const [first, last] = [oldest?.books[0]?.year, newest?.books[0]?.year];
  if (first === undefined || last === undefined) {
    bars.value = [];
    return;
  }
  const next = barsOf(first, last);
  for (const [index, bar] of next.entries()) {
    const { from, to } = bar;
    const page = await firstPage({ ...query, year_from: from, year_to: to, limit: 1, count: true }, abort);
    next[index] = { ...bar, count: page.total ?? 0 };
  }
  bars.value = next;
}

/** As many bars as fit when each is at least 24 pixels wide (WCAG 2.2, criterion 2.5.8). */
function barsOf(firstYear: number, lastYear: number): Bar[] {
  return barsBetween(firstYear, lastYear, new Date().getFullYear(), isNarrow.peek() ? 12 : 24);
}

/** The years of all matching books; undefined when some are not loaded. */
function loadedYears(): number[] | undefined {
  const { from, to } = view.peek();
  if (from !== undefined || to !== undefined || total.peek() !== rowCount()) return undefined;
  const books = Array.from({ length: rowCount() }, (_, index) => bookAt(index));
  return books.every((book) => book !== undefined) && books.length <= COUNTED_LOCALLY_MAX
    ? books.map(({ year }) => year)
    : undefined;
}

const COUNTED_LOCALLY_MAX = 1_000;
