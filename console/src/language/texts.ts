import { batch, computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import { NoResponseError, RefusedError } from 'bookkeeping-client/index.ts';
import { formatMessage } from './format.ts';
import {
  chooseLanguage,
  type Language,
  type LaterTexts,
  language,
  loadLaterTexts,
  loadTexts,
  type Texts,
} from './language.ts';

const first = signal({} as Texts);
const later = signal({} as LaterTexts);

/** The texts of the page in the current language; empty until {@link startTexts} is done. */
export const texts: ReadonlySignal<Texts> = first;

/** All texts in the current language, for code that is loaded by {@link loadWithTexts}. */
export const allTexts = computed(() => ({ ...first.value, ...later.value }));

let shown: Language;
let isLaterNeeded = false;

/** Loads the texts, now and whenever the user chooses another language. */
export async function startTexts(): Promise<void> {
  chooseLanguage();
  shown = language.value;
  await load(shown);
  // The language remains the former one when the texts of the chosen one cannot be loaded.
  effect(() => void load(language.value).catch(() => (language.value = shown)));
}

async function load(chosen: Language): Promise<void> {
  const [page, others] = await Promise.all([loadTexts(chosen), isLaterNeeded && loadLaterTexts(chosen)]);
  // Another language may have been chosen meanwhile.
  if (chosen !== language.value) return load(language.value);
  shown = chosen;
  batch(() => {
    first.value = page.default;
    if (others) later.value = others.default;
  });
  document.documentElement.lang = shown;
  document.documentElement.dir = page.default.direction;
}

/** Loads code that the first paint does not need, with its texts. */
export async function loadWithTexts<Module>(loadModule: () => Promise<Module>): Promise<Module> {
  isLaterNeeded = true;
  const [module] = await Promise.all([loadModule(), load(language.value)]);
  return module;
}

/** A year in the current language: `1851`, or `750 BC` for -750. An unknown one, 0, is an empty text. */
export function formatYear(year: number): string {
  if (year === 0) return '';
  return year < 0 ? formatMessage(texts.value.beforeCommonEra, { year: String(-year) }) : String(year);
}

/** How much of what searches and orders need the service has prepared, if an error is that it has not all of it. */
export function preparedPercent(error: unknown): string | undefined {
  if (!(error instanceof RefusedError) || error.status !== 503) return undefined;
  return /(\d+)\s*(?:%|percent)/.exec(error.detail ?? '')?.[1];
}

/** The message for the error of a call. */
export function explain(error: unknown): string {
  const { errors, signInErrors } = texts.value;
  if (error instanceof NoResponseError)
    return error.reason === 'timeout' ? errors.timeout : signInErrors.unreachable;
  if (!(error instanceof RefusedError)) return errors.defect;
  const percent = preparedPercent(error);
  if (percent !== undefined) return formatMessage(errors.preparing, { percent });
  if (error.status === 503)
    return error.detail ? formatMessage(errors.unavailableAs, { reason: error.detail }) : errors.unavailable;
  if (error.status >= 500) return errors.defect;
  if (error.status === 401) return errors.tokenRejected;
  if (error.status === 429) return signInErrors.throttled;
  return formatMessage(errors.rejected, { reason: error.detail ?? error.message });
}
