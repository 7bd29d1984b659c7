import { hash } from 'node:crypto';
import type { Book } from './contract.ts';

/** 22 digits of base64 are 132 bits, enough that no two versions of a book have the same tag. */
export const TAG_DIGITS = 22;

/**
 * The strong entity tag of a book (RFC 9110, section 8.8.3), which changes with each of its fields: a hash of, for example,
 * `1 -750 9 The IliadHomer`, where 9 is the length of the title in bytes. `taggedText` in src/store/postgres/batches/update-many.ts is the same.
 */
export function entityTag({ id, title, author, year }: Book): string {
  const digest = hash('sha256', `${id} ${year} ${Buffer.byteLength(title)} ${title}${author}`, 'base64url');
  return `"${digest.slice(0, TAG_DIGITS)}"`;
}
