import { effect, signal } from '@preact/signals';
import { NoResponseError, RefusedError } from '../../../src/client/index.ts';
import { BOOK_SIZE_MAX, ROW_SIZE_MAX, type RowError } from '../../../src/formats/row.ts';
import { formatMessage } from './format.ts';
import { LANGUAGES, type Language, language, type Texts } from './language.ts';

/** The texts in the current language; empty until {@link textsLoaded}. */
export const texts = signal({} as Texts);

let loaded = language.value;
export const textsLoaded = load(loaded);
effect(() => void load(language.value));

/** Loads the texts of a language that was chosen; the language remains the former one when that fails. */
async function load(chosen: Language): Promise<void> {
  try {
    texts.value = (await LANGUAGES[chosen].load()).default;
    loaded = chosen;
  } catch {
    language.value = loaded;
  }
  document.documentElement.lang = loaded;
  document.documentElement.dir = texts.value.direction;
  document.title = texts.value.catalogue;
}

/** The message for the error of a call. */
export function explain(error: unknown): string {
  const { errors, signInErrors } = texts.value;
  if (error instanceof NoResponseError)
    return error.reason === 'timeout' ? errors.timeout : signInErrors.unreachable;
  if (!(error instanceof RefusedError)) return errors.defect;
  if (error.status >= 500) return error.status === 503 ? errors.unavailable : errors.defect;
  if (error.status === 401) return errors.tokenRejected;
  if (error.status === 429) return signInErrors.throttled;
  return error.status === 413 ? errors.tooLong : errors.rejected;
}

/** Why a row cannot be imported. */
export function explainRowError(error: RowError): string {
  const { rowErrors, columns } = texts.value;
  const max = error.kind === 'row-too-long' ? ROW_SIZE_MAX : BOOK_SIZE_MAX;
  const values = error.kind === 'text' ? { field: columns[error.field] } : error;
  return formatMessage(rowErrors[error.kind], { max, ...values });
}
