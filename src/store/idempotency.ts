import { hash } from 'node:crypto';
import type { BookFields } from '../book/book.ts';

/** How long a key is remembered. */
export const KEY_LIFETIME_SECONDS = 24 * 60 * 60;

/** How often what is older is removed: until then it takes room, and no part in anything. */
export const KEY_REMOVAL_MS = 60_000;

/** How many are removed in one step, which others may have to wait for. */
export const KEY_REMOVAL_MAX = 1_000;

/** Tells whether two requests for a book are the same, without keeping the book. */
export function fingerprintOf({ title, author, year }: BookFields): string {
  return hash('sha256', JSON.stringify([title, author, year]), 'base64url');
}
