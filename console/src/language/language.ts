import { computed } from '@preact/signals';
import { preference } from '../page/preferences.ts';

/** The languages of the console, each by its own name. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof LANGUAGES;

const CODES = Object.keys(LANGUAGES) as Language[];

/** The language of the console: the language of the browser, unless the user has chosen another. */
export const language = preference(
  'language',
  CODES,
  navigator.languages.map((tag) => CODES.find((code) => tag.startsWith(code))).find(Boolean) ?? 'en',
);

const numbers = computed(() => new Intl.NumberFormat(language.value));

/** A number with the separators of the language: 10,000 or 10.000. */
export function formatNumber(number: number): string {
  return numbers.value.format(number);
}

/** Replaces `#` in a text with a number, and each `[one|many]` with the part for that number. */
export function plural(text: string): (count: number) => string {
  return (count) =>
    text.replace(/\[(.*?)\|(.*?)\]/g, count === 1 ? '$1' : '$2').replace('#', formatNumber(count));
}
