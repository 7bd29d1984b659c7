import { createHash, hash } from 'node:crypto';
import type { Book } from './contract.ts';

/** Shorter texts are hashed as one string. */
const LONG_TEXT_LENGTH = 16_384;

/** 22 digits of base64 are 132 bits, enough that no two versions of a book have the same tag. */
export const TAG_DIGITS = 22;

/**
 * The strong entity tag of a book (RFC 9110, section 8.8.3), which changes with each of its fields: a hash of, for example,
 * `1 -750 9 The IliadHomer`, where 9 is the length of the title in bytes. `taggedText` in src/store/postgres/sql.ts is the same.
 */
export function entityTag({ id, title, author, year }: Book): string {
  const start = `${id} ${year} ${Buffer.byteLength(title)} `;
  const isLong = title.length + author.length > LONG_TEXT_LENGTH;
  const digest = isLong
    ? createHash('sha256').update(start).update(title).update(author).digest('base64url')
    : hash('sha256', start + title + author, 'base64url');
  return `"${digest.slice(0, TAG_DIGITS)}"`;
}
