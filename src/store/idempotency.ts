import { hash } from 'node:crypto';
import type { BookFields } from '../book/book.ts';

/** Older keys are ignored at once, and deleted at intervals. */
export const KEY_LIFETIME_SECONDS = 24 * 60 * 60;

/** A digest that is equal for equal fields, so that the book itself need not be kept. */
export function fingerprintOf({ title, author, year }: BookFields): string {
  return hash('sha256', JSON.stringify([title, author, year]), 'base64url');
}
