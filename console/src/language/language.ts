import { computed, signal } from '@preact/signals';
import { keepChoice } from '../state/preferences.ts';

/** The languages of the console by their own names; each has a file of the texts of the page, and one of those for other code. */
export const LANGUAGE_NAMES = { en: 'English', de: 'Deutsch', es: 'Español', fr: 'Français' } as const;

export type Language = keyof typeof LANGUAGE_NAMES;

/** The English texts; other languages have the same keys. */
export type Texts = typeof import('./en.json');
export type LaterTexts = typeof import('./en.later.json');

export function loadTexts(language: Language): Promise<{ default: Texts }> {
  return import(`./${language}.json`, { with: { type: 'json' } });
}

export function loadLaterTexts(language: Language): Promise<{ default: LaterTexts }> {
  return import(`./${language}.later.json`, { with: { type: 'json' } });
}

const CODES = Object.keys(LANGUAGE_NAMES) as Language[];

/** The language of the console. */
export const language = signal<Language>('en');

/** Chooses the first language of the browser that the console has, unless the user has chosen another. */
export function chooseLanguage(): void {
  const known = navigator.languages.map((tag) => CODES.find((code) => code === tag.split('-')[0]));
  keepChoice(language, 'language', CODES, known.find(Boolean) ?? 'en');
}

const numbers = computed(() => new Intl.NumberFormat(language.value));

/** A number with the separators of the language: 10,000 or 10.000. */
export function formatNumber(number: number): string {
  return numbers.value.format(number);
}
