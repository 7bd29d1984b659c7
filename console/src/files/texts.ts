import { computed } from '@preact/signals';
import { type Language, language } from '../language/language.ts';
import type { Fault } from './book-row.ts';
import { de } from './texts-de.ts';
import { en, type Texts } from './texts-en.ts';

const ALL = { en, de } as const satisfies Record<Language, Texts>;

/** The texts of import and export, which come with their dialogs. */
export const texts = computed<Texts>(() => ALL[language.value]);

/** Why a row cannot be imported, in a sentence for people. */
export function explainFault(fault: Fault): string {
  const { faults } = texts.value;
  switch (fault.kind) {
    case 'cells':
      return faults.cells(fault.found, fault.expected);
    case 'not-text':
    case 'null-character':
    case 'lone-surrogate':
      return faults[fault.kind](fault.field);
    case 'not-number':
    case 'not-whole':
    case 'too-large':
      return faults[fault.kind](fault.value);
    default:
      return faults[fault.kind];
  }
}
