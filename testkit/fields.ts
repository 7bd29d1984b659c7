import { BOOK_FIELD_TYPES, type BookFields, FIELD_NAMES, type FieldName } from '../src/book/contract.ts';

/** A value of its own for each field, so that fields which are exchanged are noticed. */
export function fieldValue(name: FieldName, version: 'old' | 'new'): string | number {
  if (BOOK_FIELD_TYPES[name] === 'text') return `${version} ${name}`;
  return (version === 'old' ? 1_000 : 2_000) + FIELD_NAMES.indexOf(name);
}

/** The old value of each field. */
export const OLD = Object.fromEntries(
  FIELD_NAMES.map((name) => [name, fieldValue(name, 'old')]),
) as unknown as BookFields;
