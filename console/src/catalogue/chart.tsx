import { formatYear } from '../book/book-text.tsx';
import { formatMessage } from '../language/format.ts';
import { texts } from '../language/texts.ts';
import { show, view } from '../page/address.ts';
import { bars, isNarrow } from './chart-counts.ts';
import { type Bar, scaleOf } from './decades.ts';

/** Books by decade. A click filters by a decade; with Shift, it extends the range of years to the decade. */
export function Chart() {
  const t = texts.value;
  const { from, to } = view.value;
  const scale = scaleOf(bars.value);
  const isFiltered = from !== undefined || to !== undefined;
  const isChosen = (bar: Bar) => isFiltered && bar.to >= (from ?? -Infinity) && bar.from <= (to ?? Infinity);

  function choose(bar: Bar, isExtension: boolean): void {
    if (isExtension && isFiltered)
      show({ from: Math.min(bar.from, from ?? bar.from), to: Math.max(bar.to, to ?? bar.to) });
    else if (bar.from === from && bar.to === to) show({ from: undefined, to: undefined });
    else show({ from: bar.from, to: bar.to });
  }

  if (bars.value.length < 2) return <div class="chart" />;
  return (
    <fieldset class={isFiltered ? 'chart filtered' : 'chart'}>
      <legend class="visually-hidden">{t.byDecade}</legend>
      {bars.value.map((bar) => {
        const label = `${labelOf(bar)}: ${formatMessage(t.count, { count: bar.count })}`;
        return (
          <button
            key={bar.from}
            type="button"
            class={`bar ${bar.kind}`}
            aria-pressed={isChosen(bar)}
            aria-label={label}
            title={label}
            onClick={(event) => choose(bar, event.shiftKey)}
          >
            <svg class="column" viewBox="0 0 10 100" preserveAspectRatio="none" aria-hidden="true">
              <path d={barPath(bar.count / scale)} />
            </svg>
          </button>
        );
      })}
      <div class="axis" aria-hidden="true">
        {bars.value.map((bar, index) => (
          <span key={bar.from}>
            {isLabelled(bar, index) &&
              (bar.kind === 'older' ? `…${formatYear(bar.to)}` : formatYear(bar.from))}
          </span>
        ))}
      </div>
    </fieldset>
  );
}

/** The path of a bar: visible even for one book among many, and with a gap when it exceeds the chart. */
function barPath(share: number): string {
  if (share > 1) return 'M0 100V30L10 22V100ZM0 22V0H10V14Z';
  const height = share === 0 ? 1 : Math.max(4, 100 * share);
  return `M0 100V${(100 - height).toFixed(1)}H10V100Z`;
}

function labelOf({ kind, from, to }: Bar): string {
  const t = texts.value;
  if (kind === 'older') return formatMessage(t.upTo, { year: formatYear(to) });
  return kind === 'newer'
    ? formatMessage(t.since, { year: formatYear(from) })
    : formatMessage(t.decade, { year: formatYear(from) });
}

/** The first bar has a label, and bars at round years that are far enough apart. */
function isLabelled({ from }: Bar, index: number): boolean {
  const years = isNarrow.value ? 20 : 50;
  return index === 0 || (from % years === 0 && index > 1);
}
