import { hash } from 'node:crypto';
import type { Book } from './contract.ts';
import { taggedText } from './tagged-text.ts';

/** 22 digits of base64 are 132 bits, enough that no two versions of a book have the same tag. */
export const TAG_DIGITS = 22;

/** The strong entity tag of a book (RFC 9110, section 8.8.3), which changes with each of its fields: a hash of its {@link taggedText}. */
export function entityTag(book: Book): string {
  const digest = hash(
    'sha256',
    taggedText(book, (text) => Buffer.byteLength(text)),
    'base64url',
  );
  return `"${digest.slice(0, TAG_DIGITS)}"`;
}
