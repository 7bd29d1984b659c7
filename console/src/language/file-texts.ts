import { computed } from '@preact/signals';
import type { Fault } from '../../../src/formats/row.ts';
import { de } from './file-texts-de.ts';
import { en, type Texts } from './file-texts-en.ts';
import { type Language, language } from './language.ts';

const ALL = { en, de } as const satisfies Record<Language, Texts>;

/** The texts of import and export, which come with their dialogs. */
export const texts = computed<Texts>(() => ALL[language.value]);

/** Why a row cannot be imported, in a sentence for people. */
export function explainFault(fault: Fault): string {
  const { faults } = texts.value;
  switch (fault.kind) {
    case 'cells':
      return faults.cells(fault.found, fault.expected);
    case 'text':
      return faults.text(fault.field);
    case 'year':
    case 'id':
      return faults.year(fault.value);
    default:
      return faults[fault.kind];
  }
}
