// oxlint-disable-next-line import/no-unassigned-import -- a style sheet exports nothing
import '../style/chart.css';
import { useSignal } from '@preact/signals';
import type { TargetedKeyboardEvent } from 'preact';
import { formatYear } from '../book/book-text.tsx';
import { formatMessage } from '../language/format.ts';
import { allTexts } from '../language/texts.ts';
import { show, view } from '../page/address.ts';
import { bars } from './chart-counts.ts';
import { isNarrow, isWide } from './chart-toggle.tsx';
import { type Bar, heightOf } from './decades.ts';

/** The numbers, which the accessible names have in full, with at most four characters: 1, 120, 12K. */
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 0 });

/**
 * Books by decade, as a table for screen readers. A click filters by a decade; with Shift, it extends the range of years
 * to the decade. Of the bars, one can be reached with Tab; the arrow keys move the focus.
 */
export function Chart() {
  const t = allTexts.value;
  const focused = useSignal(0);
  const { from, to } = view.value;
  const isFiltered = from !== undefined || to !== undefined;

  if (bars.value.length === 0) return null;

  function move(event: TargetedKeyboardEvent<HTMLElement>): void {
    const count = bars.value.length;
    const moves: Readonly<Record<string, number>> = {
      ArrowLeft: focused.value - 1,
      ArrowRight: focused.value + 1,
      Home: 0,
      End: count - 1,
    };
    const index = moves[event.key];
    if (index === undefined) return;
    event.preventDefault();
    const buttons = event.currentTarget.querySelectorAll<HTMLElement>('.bar');
    buttons[Math.min(Math.max(index, 0), count - 1)]?.focus();
  }

  const tabStop = Math.min(focused.value, bars.value.length - 1);
  return (
    <table class={isFiltered ? 'chart filtered' : 'chart'}>
      <caption class="visually-hidden">{t.byDecade}</caption>
      <tbody onKeyDown={move}>
        {bars.value.map((bar, index) => (
          <tr key={bar.from} class={bar.kind}>
            <th scope="row">
              <span class="visually-hidden">{labelOf(bar)}</span>
              <span aria-hidden="true">{isLabelled(bar, index) && shortLabelOf(bar)}</span>
            </th>
            <td>
              <BarButton
                bar={bar}
                isChosen={isFiltered && bar.to >= (from ?? -Infinity) && bar.from <= (to ?? Infinity)}
                isTabStop={index === tabStop}
                onFocus={() => {
                  focused.value = index;
                }}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface BarButtonProps {
  readonly bar: Bar;
  readonly isChosen: boolean;
  readonly isTabStop: boolean;
  readonly onFocus: () => void;
}

function BarButton({ bar, isChosen, isTabStop, onFocus }: BarButtonProps) {
  const label = `${labelOf(bar)}: ${formatMessage(allTexts.value.count, { count: bar.count })}`;
  return (
    <button
      type="button"
      class="bar"
      tabIndex={isTabStop ? 0 : -1}
      aria-pressed={isChosen}
      aria-label={label}
      title={label}
      onFocus={onFocus}
      onClick={(event) => choose(bar, event.shiftKey)}
    >
      <span class="number" aria-hidden="true">
        {bar.count > 0 && short.format(bar.count)}
      </span>
      <span class="column" style={{ height: `${(100 * heightOf(bar.count, bars.value)).toFixed(1)}%` }} />
    </button>
  );
}

function choose(bar: Bar, isExtension: boolean): void {
  const { from, to } = view.value;
  const isFiltered = from !== undefined || to !== undefined;
  if (isExtension && isFiltered)
    show({ from: Math.min(bar.from, from ?? bar.from), to: Math.max(bar.to, to ?? bar.to) });
  else if (bar.from === from && bar.to === to) show({ from: undefined, to: undefined });
  else show({ from: bar.from, to: bar.to });
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

/** Every label, or those of every second decade if they would overlap. */
function isLabelled({ kind }: Bar, index: number): boolean {
  const labelsMax = isNarrow.value ? 7 : isWide.value ? 24 : 12;
  if (kind !== 'decade' || bars.value.length <= labelsMax) return true;
  return bars.value[index - 1]?.kind !== 'older' && (bars.value.length - index) % 2 === 1;
}
