import { hash } from 'node:crypto';
import type { Book, BookFields } from '../../book/book.ts';

/** Of a fingerprint so many numbers of 32 bits are kept: among a billion books two are alike once in 10^11 times. */
const WORDS = 3;

/** How many places the first table has: a power of 2, as those of the others. */
const PLACES_AT_FIRST = 1 << 16;

/** How much of a table is used; then the next one is begun. */
const LOAD_MAX = 0.75;

/**
 * Remembers books by title, author and year, as fingerprints: 16 to 32 bytes each, so that millions fit into memory. They
 * are in hash tables with open addressing (Knuth, The Art of Computer Programming, volume 3, section 6.4). Each table is as
 * large as those before it together, which stay as they are: to grow one would take its memory twice.
 */
export class KnownBooks {
  readonly #tables: Uint32Array[] = [];
  /** How many more go into the last table. */
  #room = 0;

  /** Remembers all books of a page: JSON objects with commas between them. */
  addPage(page: Uint8Array): void {
    for (const book of JSON.parse(`[${Buffer.from(page).toString()}]`) as Book[]) this.add(book);
  }

  /** @returns whether it was not known yet */
  add(book: BookFields): boolean {
    const fingerprint = fingerprintOf(book);
    if (this.#tables.some((table) => isIn(table, fingerprint))) return false;
    if (this.#room === 0) this.#begin();
    const table = this.#tables.at(-1) as Uint32Array;
    table.set(fingerprint, placeOf(table, fingerprint));
    this.#room--;
    return true;
  }

  #begin(): void {
    const places = PLACES_AT_FIRST << Math.max(this.#tables.length - 1, 0);
    this.#tables.push(new Uint32Array(places * WORDS));
    this.#room = Math.floor(places * LOAD_MAX);
  }
}

function isIn(table: Uint32Array, fingerprint: Uint32Array): boolean {
  return table[placeOf(table, fingerprint)] !== 0;
}

/** Where a fingerprint is in a table, or the empty place for it. */
function placeOf(table: Uint32Array, fingerprint: Uint32Array): number {
  const first = fingerprint[0] ?? 0;
  const second = fingerprint[1];
  const third = fingerprint[2];
  const mask = table.length / WORDS - 1;
  for (let place = first & mask; ; place = (place + 1) & mask) {
    const at = place * WORDS;
    const isFound = table[at] === first && table[at + 1] === second && table[at + 2] === third;
    if (isFound || table[at] === 0) return at;
  }
}

/** Its first number is never 0, which marks an empty place. */
function fingerprintOf({ title, author, year }: BookFields): Uint32Array {
  const bytes = hash('sha256', JSON.stringify([title, author, year]), 'latin1');
  const fingerprint = new Uint32Array(WORDS);
  for (let at = 0; at < WORDS * 4; at++) {
    fingerprint[at >> 2] = ((fingerprint[at >> 2] ?? 0) << 8) | bytes.charCodeAt(at);
  }
  fingerprint[0] ||= 1;
  return fingerprint;
}
