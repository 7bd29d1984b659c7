import { useSignal } from '@preact/signals';
import type { TargetedKeyboardEvent } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { formatMessage } from '../language/format.ts';
import { allTexts, formatYear } from '../language/texts.ts';
import { ChartCounts } from '../state/chart-counts.ts';
import { type Bar, heightOf } from '../state/decades.ts';
import { useApp } from './use-app.ts';

/**
 * Books by decade, as a table for screen readers. A click filters by a decade; with Shift, it extends the range of years
 * to the decade. Of the bars, one can be reached with Tab; the arrow keys move the focus.
 */
export function Chart() {
  const app = useApp();
  const { address, isNarrow } = app;
  const t = allTexts.value;
  const counts = useMemo(() => new ChartCounts(app, isNarrow), []);
  useEffect(() => counts.close, []);
  const { value: bars } = counts.bars;
  const focused = useSignal(0);
  const { from, to } = address.view.value;
  const isFiltered = from !== undefined || to !== undefined;
  const last = bars.length - 1;
  if (last < 0) return null;

  function move(event: TargetedKeyboardEvent<HTMLElement>): void {
    const moves: Readonly<Record<string, number>> = {
      ArrowLeft: focused.value - 1,
      ArrowRight: focused.value + 1,
      Home: 0,
      End: last,
    };
    const index = moves[event.key];
    if (index === undefined) return;
    event.preventDefault();
    const buttons = event.currentTarget.querySelectorAll<HTMLElement>('.bar');
    buttons[Math.min(Math.max(index, 0), last)]?.focus();
  }

  function choose(bar: Bar, isExtension: boolean): void {
    const isChosen = bar.from === from && bar.to === to;
    if (isExtension && isFiltered)
      address.show({ from: Math.min(bar.from, from ?? bar.from), to: Math.max(bar.to, to ?? bar.to) });
    else address.show(isChosen ? { from: undefined, to: undefined } : { from: bar.from, to: bar.to });
  }

  return (
    <table class={isFiltered ? 'chart filtered' : 'chart'}>
      <caption class="visually-hidden">{t.byDecade}</caption>
      <tbody onKeyDown={move}>
        {bars.map((bar, index) => {
          const label = `${labelOf(bar)}: ${formatMessage(t.count, { count: bar.count })}`;
          return (
            <tr key={bar.from}>
              <th scope="row">
                <span class="visually-hidden">{labelOf(bar)}</span>
                <span aria-hidden="true">
                  {isLabelled(bars, index, isNarrow.value ? 7 : 12) && shortLabelOf(bar)}
                </span>
              </th>
              <td>
                <button
                  type="button"
                  class="bar"
                  tabIndex={index === Math.min(focused.value, last) ? 0 : -1}
                  aria-pressed={isFiltered && bar.to >= (from ?? -Infinity) && bar.from <= (to ?? Infinity)}
                  aria-label={label}
                  title={label}
                  onFocus={() => (focused.value = index)}
                  onClick={(event) => choose(bar, event.shiftKey)}
                >
                  <span class="column" style={{ height: `${100 * heightOf(bar.count, bars)}%` }} />
                </button>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function labelOf({ kind, from, to }: Bar): string {
  const t = allTexts.value;
  if (kind === 'unknown') return t.unknownYear;
  if (kind === 'older') return formatMessage(t.upTo, { year: formatYear(to) });
  if (kind === 'newer') return formatMessage(t.since, { year: formatYear(from) });
  const nearest = to < 0 ? -to : from;
  const decade = formatMessage(t.decade, { year: String(nearest - (nearest % 10)) });
  return to < 0 ? formatMessage(t.beforeCommonEra, { year: decade }) : decade;
}

function shortLabelOf({ kind, from, to }: Bar): string {
  if (kind === 'unknown') return '?';
  if (kind !== 'older') return formatYear(to < 0 ? to : from);
  return to === -1
    ? formatMessage(allTexts.value.beforeCommonEra, { year: '' }).trim()
    : `…${formatYear(to)}`;
}

/** Every label or, if they would overlap, those of every second decade. */
function isLabelled(bars: readonly Bar[], index: number, labelsMax: number): boolean {
  if (bars.length <= labelsMax) return true;
  const isSecond = bars[index]?.kind !== 'decade' || (bars.length - index) % 2 === 1;
  return isSecond && bars[index - 1]?.kind !== 'older';
}
