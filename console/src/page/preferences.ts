import { effect, type Signal, signal } from '@preact/signals';

/** A choice of a person that this browser remembers. */
export function keptChoice<Choice extends string>(
  name: string,
  choices: readonly Choice[],
  fallback: Choice,
): Signal<Choice> {
  const kept = choices.find((choice) => choice === localStorage.getItem(name));
  const choice = signal(kept ?? fallback);
  effect(() => {
    if (choice.value === fallback) localStorage.removeItem(name);
    else localStorage.setItem(name, choice.value);
  });
  return choice;
}
