import { computed } from '@preact/signals';
import type { RowError } from '../../../src/formats/row.ts';
import { fileTextsDe } from './file-texts-de.ts';
import { type FileTexts, fileTextsEn } from './file-texts-en.ts';
import { type Language, language } from './language.ts';
import { texts } from './texts.ts';

const ALL: Readonly<Record<Language, FileTexts>> = { en: fileTextsEn, de: fileTextsDe };

/** All texts, including those of import and export, which are loaded with their dialogs. */
export const fileTexts = computed(() => ({ ...texts.value, ...ALL[language.value] }));

/** Why a row cannot be imported. */
export function explainRowError(error: RowError): string {
  const { rowErrors, columns } = fileTexts.value;
  switch (error.kind) {
    case 'cell-count':
      return rowErrors['cell-count'](error.found, error.expected);
    case 'text':
      return rowErrors.text(columns[error.field]);
    case 'year':
    case 'id':
      return rowErrors[error.kind](error.value);
    default:
      return rowErrors[error.kind];
  }
}
