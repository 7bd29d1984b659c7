import { createHash, hash } from 'node:crypto';
import { type Book, type BookFields, FIELD_NAMES } from '../book/contract.ts';
import { REMOVAL_BYTES, REMOVAL_MAX } from './limits.ts';

/** Older keys are ignored at once, and deleted at intervals. */
export const KEY_LIFETIME_SECONDS = 24 * 60 * 60;

/** Selects the expired keys of one step of their removal, on both engines. @param isExpired a condition */
export const keysToRemove = (isExpired: string) => `
  select key
  from (
    select key, bytes, sum(bytes) over (order by created_at, key) as sum
    from (
      select key, created_at, octet_length(fingerprint) as bytes
      from idempotency_keys where ${isExpired} order by created_at limit ${REMOVAL_MAX}
    ) as expired
  ) as summed
  where sum - bytes < ${REMOVAL_BYTES}
`;

/** A digest that is equal for equal fields. */
export function fingerprintOf(fields: BookFields): string {
  return hash('sha256', JSON.stringify(FIELD_NAMES.map((name) => fields[name])), 'base64url');
}

/** A digest that is equal for equal books, however they are divided into arrays, and that no single book has. */
export function fingerprintOfMany(arrays: readonly Uint8Array[]): string {
  const digest = createHash('sha256').update('[');
  for (const array of arrays) {
    if (array.length > 2) digest.update(array.subarray(1, -1)).update(',');
  }
  return digest.digest('base64url');
}

/** The characters of a fingerprint, behind which a key has what it has created. */
export const FINGERPRINT_LENGTH = 43;

/** What a key has created, and the id of its first book. */
export interface Created {
  /**
   * Of a request for | this version | keys of earlier versions | these, where a trigger had changed the texts
   * ---|---|---|---
   * one book | `{…}` | nothing | ` {…}` without an id
   * several | `[{…},{…}]` | nothing, or the ranges of their ids: ` 7-9 12-12` | ids or not, and ` [{…},{…}]`
   *
   * Version 0.2 beside this one reads ids behind a space only: without one, it takes the key for that of another request.
   */
  readonly created: Uint8Array;
  readonly id: number;
}

/** The book that a key has created. @param fields those of the repeat, equal to those of the first request */
export function createdBook({ created, id }: Created, fields: BookFields): Book {
  const kept = created.length === 0 ? fields : (JSON.parse(Buffer.from(created).toString()) as BookFields);
  return { id, ...kept };
}

/** The books that a key has created, as pages. @param arrays those of the repeat, equal to those of the first request */
export function createdBooks({ created, id }: Created, arrays: readonly Uint8Array[]): Uint8Array[] {
  const start = created.indexOf(ARRAY_START);
  if (start !== -1) return [created.subarray(start + 1, -1)];
  const ids = idsInRanges(Buffer.from(created).toString(), id);
  return arrays.map((array) => {
    const books = JSON.parse(Buffer.from(array).toString()) as BookFields[];
    return utf8.encode(books.map((fields) => JSON.stringify({ id: ids.next().value, ...fields })).join(','));
  });
}

const ARRAY_START = '['.charCodeAt(0);
/** Its results have memory of their own, which can be transferred. */
const utf8 = new TextEncoder();

/** The ids of the ranges; without any, those from the first one. */
function* idsInRanges(ranges: string, first: number): Generator<number> {
  for (const range of (ranges.trim() || `${first}-${Number.MAX_SAFE_INTEGER}`).split(' ')) {
    const [from = 0, to = 0] = range.split('-').map(Number);
    for (let id = from; id <= to; id++) yield id;
  }
}
