import { signal } from '@preact/signals';

/** The width below which styles put things one below the other. */
const narrow = matchMedia('(width < 40rem)');

/** Whether there is as little room as on a phone. */
export const isNarrow = signal(narrow.matches);

narrow.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches;
});
