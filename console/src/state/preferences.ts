import { effect, type Signal, signal } from '@preact/signals';

/** Keeps a choice of the user in the local storage, from which it is read first, and follows the other tabs. */
export function keepChoice<Choice extends string>(
  choice: Signal<Choice>,
  name: string,
  choices: readonly Choice[],
  fallback: Choice,
): Signal<Choice> {
  const read = (stored: string | null) => choices.find((each) => each === stored) ?? fallback;
  choice.value = read(localStorage.getItem(name));
  effect(() => {
    if (choice.value === fallback) localStorage.removeItem(name);
    else localStorage.setItem(name, choice.value);
  });
  // Another tab has changed it.
  addEventListener('storage', ({ key, newValue }) => {
    if (key === name) choice.value = read(newValue);
  });
  return choice;
}

/** A value that was kept in the local storage as JSON, or the fallback. */
export function readStored<Value>(name: string, fallback: Value): Value {
  try {
    return JSON.parse(localStorage.getItem(name) ?? '') as Value;
  } catch {
    return fallback;
  }
}

export type Theme = 'system' | 'light' | 'dark';
export type Density = 'compact' | 'comfortable';

/** The shares of titles, authors and years: their widths in rem where there is room for them. */
export const COLUMN_SHARES: readonly number[] = [34, 26, 5];

function readShares(): readonly number[] {
  const stored = readStored<unknown>('column-shares', undefined);
  const isValid =
    Array.isArray(stored) &&
    stored.length === COLUMN_SHARES.length &&
    stored.every((share) => Number.isFinite(share) && share > 0);
  return isValid ? stored : COLUMN_SHARES;
}

/** How the user wants the page to look. */
export class Preferences {
  readonly theme = keepChoice(signal<Theme>('system'), 'theme', ['system', 'light', 'dark'], 'system');
  /** The height of the rows. */
  readonly density = keepChoice(signal<Density>('compact'), 'density', ['compact', 'comfortable'], 'compact');
  readonly chart = keepChoice(signal<'hidden' | 'shown'>('hidden'), 'chart', ['hidden', 'shown'], 'hidden');

  /** The shares of the fields in the width of the table, in their order. */
  readonly columnShares = signal<readonly number[]>(readShares());

  constructor() {
    effect(() => localStorage.setItem('column-shares', JSON.stringify(this.columnShares.value)));
    effect(() => {
      const { theme, density } = this;
      Object.assign(document.documentElement.dataset, { theme: theme.value, density: density.value });
    });
  }
}

/** Whether a media query matches, which the style sheets use, too. */
export function mediaMatches(condition: string): Signal<boolean> {
  const query = matchMedia(condition);
  const result = signal(query.matches);
  query.addEventListener('change', () => {
    result.value = query.matches;
  });
  return result;
}
