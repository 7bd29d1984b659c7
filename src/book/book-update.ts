import { Invalid } from '../json/invalid.ts';
import { InvalidJson, readJsonObject } from '../json/json-object.ts';
import { ID_MAX, invalidLength } from './book.ts';
import { BOOK_FIELD_TYPES, type BookFields } from './contract.ts';

/** An update of a book among many: its new fields, or its deletion. */
export interface UpdateItem extends Partial<BookFields> {
  readonly id: number;
  readonly isDeleted?: true | undefined;
  /** The book must have one of these strong entity tags, with commas between them; without tags any. */
  readonly tags?: string | undefined;
}

const BOOK_UPDATE_TYPES = {
  id: 'integer',
  ...BOOK_FIELD_TYPES,
  deleted: 'boolean',
  ifmatch: 'text',
} as const;

/** Reads an element of `PATCH /books`. @param tagsOf reads the value of `If-Match`, and returns undefined for `*` */
export function readBookUpdate(
  element: Uint8Array,
  tagsOf: (ifMatch: string) => string | undefined,
): UpdateItem | Invalid {
  const read = readJsonObject(element, BOOK_UPDATE_TYPES);
  if (read instanceof InvalidJson && typeof read.reason === 'object' && read.reason.name === 'id')
    return new Invalid(`id ${describeInvalidId(read.reason.value)}`);
  if (read instanceof Invalid) return read;
  const { id, deleted, ifmatch, ...fields } = read;
  if (id === undefined || id < 0) return new Invalid(`id ${describeInvalidId(id)}`);
  const tags = ifmatch === undefined ? undefined : tagsOf(ifmatch);
  if (!deleted) return invalidLength(fields) ?? { id, ...fields, tags };
  const [field] = Object.keys(fields);
  return field === undefined ? { id, isDeleted: true, tags } : new Invalid(`${field} of a deleted book`);
}

/** What an id in a body must be, for one that is something else. */
export function describeInvalidId(id: unknown): string {
  return typeof id === 'string'
    ? 'must be a number, without quotes'
    : `must be an integer from 0 to ${ID_MAX}`;
}
