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

/** The message for the error of a call. */
export function explain(error: unknown): string {
  const { errors, signInErrors } = texts.value;
  if (error instanceof NoAnswerError)
    return error.reason === 'timeout' ? errors.timeout : signInErrors.unreachable;
  if (!(error instanceof RefusedError)) return errors.defect;
  if (error.status >= 500) return error.status === 503 ? errors.unavailable : errors.defect;
  if (error.status === 401) return errors.tokenRejected;
  if (error.status === 429) return signInErrors.throttled;
  return error.status === 413 ? errors.tooLong : errors.rejected;
}
