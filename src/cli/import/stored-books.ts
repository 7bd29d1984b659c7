import { hash } from 'node:crypto';
import type { Book, BookFields } from '../../book/book.ts';
import { keyOf } from '../../formats/equal-books.ts';

/** The 32-bit words of a fingerprint: among a billion books, the probability of a collision is 10^-11. */
const WORDS = 3;
/** The words of a slot: a fingerprint, and the number of books that have it. */
const SLOT_WORDS = WORDS + 1;

/** The size of the first table; all sizes are powers of 2. */
const FIRST_TABLE_SLOTS = 1 << 16;
const LOAD_MAX = 0.75;

/**
 * The books of a store with their number: fingerprints of 20 to 40 bytes each, in hash tables with open addressing. Each table is
 * as large as all earlier ones together: growing one would need its memory twice.
 */
export class StoredBooks {
  readonly #tables: Uint32Array[] = [];
  /** The number of free slots in the last table, up to its maximum load. */
  #free = 0;

  /** @param page JSON objects, separated by commas */
  addPage(page: Uint8Array): void {
    for (const book of JSON.parse(`[${Buffer.from(page).toString()}]`) as Book[]) this.#add(book);
  }

  /** Removes a book. @returns whether there was one */
  take(book: BookFields): boolean {
    const found = this.#find(fingerprintOf(book));
    const count = found?.at(-1) ?? 0;
    if (!found || count === 0) return false;
    found[WORDS] = count - 1;
    return true;
  }

  #add(book: BookFields): void {
    const fingerprint = fingerprintOf(book);
    const found = this.#find(fingerprint);
    if (found) {
      found[WORDS] = (found[WORDS] ?? 0) + 1;
      return;
    }
    if (this.#free === 0) {
      const slots = FIRST_TABLE_SLOTS << Math.max(this.#tables.length - 1, 0);
      this.#tables.push(new Uint32Array(slots * SLOT_WORDS));
      this.#free = Math.floor(slots * LOAD_MAX);
    }
    const table = this.#tables.at(-1) as Uint32Array;
    table.set([...fingerprint, 1], slotOf(table, fingerprint));
    this.#free--;
  }

  /** The slot with a fingerprint. */
  #find(fingerprint: Uint32Array): Uint32Array | undefined {
    for (const table of this.#tables) {
      const at = slotOf(table, fingerprint);
      if (table[at] !== 0) return table.subarray(at, at + SLOT_WORDS);
    }
    return undefined;
  }
}

/** The index of a fingerprint in a table, or of the empty slot for it. */
function slotOf(table: Uint32Array, fingerprint: Uint32Array): number {
  const first = fingerprint[0] ?? 0;
  const second = fingerprint[1];
  const third = fingerprint[2];
  const mask = table.length / SLOT_WORDS - 1;
  for (let slot = first & mask; ; slot = (slot + 1) & mask) {
    const at = slot * SLOT_WORDS;
    const isFound = table[at] === first && table[at + 1] === second && table[at + 2] === third;
    if (isFound || table[at] === 0) return at;
  }
}

/** The first word is never 0, which marks an empty slot. */
function fingerprintOf(book: BookFields): Uint32Array {
  // With a Buffer instead of a string, this takes twice as long.
  const bytes = hash('sha256', keyOf(book), 'latin1');
  const fingerprint = new Uint32Array(WORDS);
  for (let at = 0; at < WORDS * 4; at++) {
    fingerprint[at >> 2] = ((fingerprint[at >> 2] ?? 0) << 8) | bytes.charCodeAt(at);
  }
  fingerprint[0] ||= 1;
  return fingerprint;
}
