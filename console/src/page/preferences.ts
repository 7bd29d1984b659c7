import { effect, type Signal, signal } from '@preact/signals';

/** A choice of the user that is kept in the local storage. */
export function preference<Choice extends string>(
  name: string,
  choices: readonly Choice[],
  fallback: Choice,
): Signal<Choice> {
  const choice = signal(choices.find((each) => each === localStorage.getItem(name)) ?? fallback);
  effect(() => {
    if (choice.value === fallback) localStorage.removeItem(name);
    else localStorage.setItem(name, choice.value);
  });
  // Another tab, or the page at /docs, has changed it.
  addEventListener('storage', ({ key, newValue }) => {
    if (key === name) choice.value = choices.find((each) => each === newValue) ?? fallback;
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

const THEMES = ['system', 'light', 'dark'] as const;
export const theme = preference('theme', THEMES, 'system');

const DENSITIES = ['comfortable', 'compact'] as const;
/** The height of the rows. */
export const density = preference('density', DENSITIES, 'comfortable');

effect(() => {
  Object.assign(document.documentElement.dataset, { theme: theme.value, density: density.value });
});
