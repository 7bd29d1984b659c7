import { hash } from 'node:crypto';
import type { Book, BookFields } from '../../book/book.ts';

/** A fingerprint has this many 32-bit words: among a billion books, the probability of a collision is 10^-11. */
const WORDS = 3;

/** The size of the first table; all sizes are powers of 2. */
const FIRST_TABLE_SLOTS = 1 << 16;
const LOAD_MAX = 0.75;

/**
 * A set of books, compared by title, author and year: fingerprints of 16 to 32 bytes each, in hash tables with open
 * addressing. Each table is as large as all earlier ones together: growing one would need its memory twice.
 */
export class KnownBooks {
  readonly #tables: Uint32Array[] = [];
  /** The number of free slots in the last table, up to its maximum load. */
  #free = 0;

  /** @param page JSON objects, separated by commas */
  addPage(page: Uint8Array): void {
    for (const book of JSON.parse(`[${Buffer.from(page).toString()}]`) as Book[]) this.add(book);
  }

  /** @returns whether the book is new in the set */
  add(book: BookFields): boolean {
    const fingerprint = fingerprintOf(book);
    if (this.#tables.some((table) => table[slotOf(table, fingerprint)] !== 0)) return false;
    if (this.#free === 0) {
      const slots = FIRST_TABLE_SLOTS << Math.max(this.#tables.length - 1, 0);
      this.#tables.push(new Uint32Array(slots * WORDS));
      this.#free = Math.floor(slots * LOAD_MAX);
    }
    const table = this.#tables.at(-1) as Uint32Array;
    table.set(fingerprint, slotOf(table, fingerprint));
    this.#free--;
    return true;
  }
}

/** The index of a fingerprint in a table, or of the empty slot for it. */
function slotOf(table: Uint32Array, fingerprint: Uint32Array): number {
  const first = fingerprint[0] ?? 0;
  const second = fingerprint[1];
  const third = fingerprint[2];
  const mask = table.length / WORDS - 1;
  for (let slot = first & mask; ; slot = (slot + 1) & mask) {
    const at = slot * WORDS;
    const isFound = table[at] === first && table[at + 1] === second && table[at + 2] === third;
    if (isFound || table[at] === 0) return at;
  }
}

/** The first word is never 0, which marks an empty slot. */
function fingerprintOf({ title, author, year }: BookFields): Uint32Array {
  // With a Buffer instead of a string, this takes twice as long.
  const bytes = hash('sha256', JSON.stringify([title, author, year]), 'latin1');
  const fingerprint = new Uint32Array(WORDS);
  for (let at = 0; at < WORDS * 4; at++) {
    fingerprint[at >> 2] = ((fingerprint[at >> 2] ?? 0) << 8) | bytes.charCodeAt(at);
  }
  fingerprint[0] ||= 1;
  return fingerprint;
}
