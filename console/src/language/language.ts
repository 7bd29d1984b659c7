import { computed } from '@preact/signals';
import { preference } from '../page/preferences.ts';

/** The languages of the console: each by its own name, with the texts of the page and those of the code that is loaded later. */
export const LANGUAGES = {
  en: {
    name: 'English',
    load: () => import('./en.json', { with: { type: 'json' } }),
    loadLater: () => import('./en.later.json', { with: { type: 'json' } }),
  },
  de: {
    name: 'Deutsch',
    load: () => import('./de.json', { with: { type: 'json' } }),
    loadLater: () => import('./de.later.json', { with: { type: 'json' } }),
  },
  es: {
    name: 'Español',
    load: () => import('./es.json', { with: { type: 'json' } }),
    loadLater: () => import('./es.later.json', { with: { type: 'json' } }),
  },
  fr: {
    name: 'Français',
    load: () => import('./fr.json', { with: { type: 'json' } }),
    loadLater: () => import('./fr.later.json', { with: { type: 'json' } }),
  },
} as const satisfies Readonly<Record<string, LanguageFiles>>;

interface LanguageFiles {
  readonly name: string;
  readonly load: () => Promise<{ default: Texts }>;
  readonly loadLater: () => Promise<{ default: LaterTexts }>;
}

export type Language = keyof typeof LANGUAGES;

/** The English texts; other languages have the same keys. */
export type Texts = typeof import('./en.json');
export type LaterTexts = typeof import('./en.later.json');

const CODES = Object.keys(LANGUAGES) as Language[];

export const LANGUAGE_NAMES = Object.fromEntries(
  CODES.map((code) => [code, LANGUAGES[code].name]),
) as Readonly<Record<Language, string>>;

/** The language of the console: the first of the browser that it has, unless the user has chosen another. */
export const language = preference(
  'language',
  CODES,
  navigator.languages.map((tag) => CODES.find((code) => code === tag.split('-')[0])).find(Boolean) ?? 'en',
);

const numbers = computed(() => new Intl.NumberFormat(language.value));

/** A number with the separators of the language: 10,000 or 10.000. */
export function formatNumber(number: number): string {
  return numbers.value.format(number);
}
