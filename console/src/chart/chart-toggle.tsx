import { computed, type Signal, signal } from '@preact/signals';
import { texts } from '../language/texts.ts';
import { preference } from '../page/preferences.ts';

/** The width below which the style sheets use one column. */
export const isNarrow = matches('(width < 40rem)');
export const isWide = matches('(width >= 64rem)');
const isTall = matches('(height >= 36rem)');

function matches(condition: string): Signal<boolean> {
  const query = matchMedia(condition);
  const result = signal(query.matches);
  query.addEventListener('change', () => {
    result.value = query.matches;
  });
  return result;
}

/** `auto`: where the window is high enough for it. */
const chartChoice = preference('chart', ['auto', 'shown', 'hidden'], 'auto');

export const isChartShown = computed(() =>
  chartChoice.value === 'auto' ? isTall.value : chartChoice.value === 'shown',
);

function toggleChart(): void {
  chartChoice.value = isChartShown.value ? 'hidden' : 'shown';
}

/** The button that folds the chart away. */
export function ChartToggle() {
  return (
    <button type="button" class="link" aria-expanded={isChartShown.value} onClick={toggleChart}>
      {texts.value.chart}
    </button>
  );
}
