import { formatYear } from '../book/year-text.tsx';
import { formatNumber, texts } from '../language/language.ts';
import { show, view } from '../page/address.ts';
import { bars } from './chart-counts.ts';
import { type Bar, isDecade } from './decades.ts';

/** How many books there are of each decade. A click shows those of one; with Shift, it adds all up to there. */
export function Chart() {
  const t = texts.value;
  const { from, to } = view.value;
  const most = Math.max(1, ...bars.value.map(({ count = 0 }) => count));
  const isFiltered = from !== undefined || to !== undefined;
  const isChosen = (bar: Bar) => isFiltered && bar.to >= (from ?? -Infinity) && bar.from <= (to ?? Infinity);

  function choose(bar: Bar, isMore: boolean): void {
    if (isMore && isFiltered)
      show({ from: Math.min(bar.from, from ?? bar.from), to: Math.max(bar.to, to ?? bar.to) });
    else if (bar.from === from && bar.to === to) show({ from: undefined, to: undefined });
    else show({ from: bar.from, to: bar.to });
  }

  if (bars.value.length < 2) return <div class="chart absent-chart" />;
  return (
    <fieldset class={isFiltered ? 'chart filtered' : 'chart'}>
      <legend class="unseen">{t.byDecade}</legend>
      {bars.value.map((bar, index) => (
        <button
          key={bar.from}
          type="button"
          class="bar"
          aria-pressed={isChosen(bar)}
          aria-label={`${labelOf(bar)}: ${t.count(bar.count ?? 0, formatNumber(bar.count ?? 0))}`}
          title={`${labelOf(bar)}: ${t.count(bar.count ?? 0, formatNumber(bar.count ?? 0))}`}
          onClick={(event) => choose(bar, event.shiftKey)}
        >
          <svg class="column" viewBox="0 0 10 100" preserveAspectRatio="none" aria-hidden="true">
            <rect width="10" {...extentOf(bar, most)} />
          </svg>
          <span class="tick">{isLabelled(bar, index) ? tickOf(bar) : ''}</span>
        </button>
      ))}
    </fieldset>
  );
}

/** The height of a column, out of 100. One book is still to be seen beside many. */
function extentOf({ count = 0 }: Bar, most: number): { y: number; height: number } {
  const height = count === 0 ? 1 : Math.max(4, (100 * count) / most);
  return { y: 100 - height, height };
}

function labelOf(bar: Bar): string {
  const t = texts.value;
  return isDecade(bar) ? t.decade(formatYear(bar.from)) : t.upTo(formatYear(bar.to));
}

/** Every second bar would be too much on a phone: the first one, and those at full half centuries. */
function isLabelled(bar: Bar, index: number): boolean {
  return index === 0 || bar.from % 50 === 0;
}

function tickOf(bar: Bar): string {
  return isDecade(bar) ? formatYear(bar.from) : `…${formatYear(bar.to)}`;
}
