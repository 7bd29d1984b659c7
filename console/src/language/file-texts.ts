import { computed } from '@preact/signals';
import type { Fault } from '../../../src/formats/row.ts';
import { fileTextsDe } from './file-texts-de.ts';
import { type FileTexts, fileTextsEn } from './file-texts-en.ts';
import { type Language, language } from './language.ts';
import { texts } from './texts.ts';

const ALL: Readonly<Record<Language, FileTexts>> = { en: fileTextsEn, de: fileTextsDe };

/** All texts, with those of import and export, which are loaded together with their dialogs. */
export const fileTexts = computed(() => ({ ...texts.value, ...ALL[language.value] }));

/** Why a row cannot be imported. */
export function explainFault(fault: Fault): string {
  const { rowFaults, columns } = fileTexts.value;
  switch (fault.kind) {
    case 'cells':
      return rowFaults.cells(fault.found, fault.expected);
    case 'text':
      return rowFaults.text(columns[fault.field]);
    case 'year':
    case 'id':
      return rowFaults.year(fault.value);
    default:
      return rowFaults[fault.kind];
  }
}
