import { computed, effect } from '@preact/signals';
import { NoAnswerError, RefusedError } from '../../../src/client/index.ts';
import { de } from './de.ts';
import { en, type Texts } from './en.ts';
import { type Language, language } from './language.ts';

const ALL: Readonly<Record<Language, Texts>> = { en, de };

/** The texts in the current language. */
export const texts = computed(() => ALL[language.value]);

effect(() => {
  document.documentElement.lang = language.value;
  document.title = texts.value.catalogue;
});

/** The message for a failed call. */
export function explain(error: unknown): string {
  const { faults, signInFaults } = texts.value;
  if (error instanceof NoAnswerError) return error.reason === 'timeout' ? faults.timeout : signInFaults.away;
  if (!(error instanceof RefusedError)) return faults.defect;
  if (error.status >= 500) return error.status === 503 ? faults.unavailable : faults.defect;
  if (error.status === 401) return faults.session;
  if (error.status === 429) return signInFaults.throttled;
  return error.status === 413 ? faults.tooLong : faults.refused;
}
