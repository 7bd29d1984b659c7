import { computed, effect } from '@preact/signals';
import { keptChoice } from '../page/preferences.ts';
import { de } from './de.ts';
import { en, type Texts } from './en.ts';

const ALL = { en, de } as const satisfies Record<string, Texts>;
export type Language = keyof typeof ALL;

/** The first of the person's languages that there are texts in. */
const preferred = navigator.languages.map((tag) => tag.slice(0, 2)).find((code) => code in ALL) ?? 'en';

/** The language of the page: the browser's, unless a person has chosen another. */
export const language = keptChoice('language', Object.keys(ALL) as Language[], preferred as Language);

/** All texts of the page. */
export const texts = computed<Texts>(() => ALL[language.value]);

const numbers = computed(() => new Intl.NumberFormat(language.value));

/** A number as people write it: 10,000 or 10.000. */
export function formatNumber(number: number): string {
  return numbers.value.format(number);
}

effect(() => {
  document.documentElement.lang = language.value;
  document.title = texts.value.catalogue;
});
