import { hash } from 'node:crypto';
import type { Book, BookFields } from '../../src/book/contract.ts';
import { keyOf, similarityKeyOf } from '../equal-books.ts';

/** How often a store has each book. */
export class StoredBooks {
  /** By a hash of the book, whose size does not grow with its texts. */
  readonly #counts = new Map<string, number>();
  /** Hashes of 48 bits: of a million books, two different ones have the same with a probability of 0.2 %. */
  readonly #similar = new Set<number>();

  /** @param page JSON objects, separated by commas */
  addPage(page: Uint8Array): void {
    for (const book of JSON.parse(`[${Buffer.from(page).toString()}]`) as Book[]) {
      const key = hashOf(book);
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
      this.#similar.add(similarityHashOf(book));
    }
  }

  /** Removes a book. @returns whether there was one */
  take(book: BookFields): boolean {
    const key = hashOf(book);
    const count = this.#counts.get(key) ?? 0;
    if (count === 0) return false;
    this.#counts.set(key, count - 1);
    return true;
  }

  /** Whether a stored book has the same words in title and author. */
  hasSimilar(book: BookFields): boolean {
    return this.#similar.has(similarityHashOf(book));
  }
}

function similarityHashOf(book: BookFields): number {
  return hash('sha256', similarityKeyOf(book), 'buffer').readUIntBE(0, 6);
}

function hashOf(book: BookFields): string {
  return hash('sha256', keyOf(book), 'latin1');
}
