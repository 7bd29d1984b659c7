import { hash } from 'node:crypto';
import type { BookFields } from '../book/book.ts';

export const KEY_LIFETIME_SECONDS = 24 * 60 * 60;
/** The interval at which expired keys are deleted; they are ignored as soon as they expire. */
export const KEY_REMOVAL_MS = 60_000;
/** The most keys deleted in one step, as other writes may wait for it. */
export const KEY_REMOVAL_MAX = 1_000;

/** A digest that is equal for equal fields, so that the book itself need not be kept. */
export function fingerprintOf({ title, author, year }: BookFields): string {
  return hash('sha256', JSON.stringify([title, author, year]), 'base64url');
}
