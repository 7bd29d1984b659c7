import { sha256 } from '@noble/hashes/sha2.js';
import type { Book } from 'bookkeeping-client/index.ts';
import { taggedText } from '../../../src/book/tagged-text.ts';

const utf8 = new TextEncoder();

/** The entity tag of a book, as the service computes it in src/book/entity-tag.ts. Pages without TLS have no `crypto.subtle`. */
export function entityTag(book: Book): string {
  const text = taggedText(book, (part) => utf8.encode(part).length);
  const digest = btoa(String.fromCharCode(...sha256(utf8.encode(text))));
  return `"${digest.slice(0, 22).replaceAll('+', '-').replaceAll('/', '_')}"`;
}
