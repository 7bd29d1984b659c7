import { FIELD_NAMES, type FieldName } from '../book/contract.ts';

/**
 * A part of a statement for each field of a book, with commas between them:
 * `eachField((name) => `given.${name}`)` is `given.title, given.author, given.year`.
 */
export function eachField(toSql: (name: FieldName, index: number) => string): string {
  return FIELD_NAMES.map(toSql).join(', ');
}

/** `title, author, year` */
export const FIELD_LIST = eachField((name) => name);
