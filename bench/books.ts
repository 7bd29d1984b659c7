import type { BookFields } from '../src/book/book.ts';

/** The number of books at the start of a measurement. */
export const BOOKS = 10_000;

/** A generator of random numbers in [0, 1), determined by the seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Generates books with titles and authors of usual lengths, some with non-ASCII characters, determined by the seed. */
export function makeBooks(count: number, seed: number): BookFields[] {
  const random = seededRandom(seed);
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)] ?? '';
  const patterns = [
    () => `The ${pick(ADJECTIVES)} ${pick(NOUNS)}`,
    () => `${pick(NOUNS)} of ${pick(PLACES)}`,
    () => `A ${pick(ADJECTIVES)} ${pick(NOUNS)} in ${pick(PLACES)}`,
    () => `The ${pick(NOUNS)} and the ${pick(NOUNS)}`,
    () => `${pick(PLACES)}: A History of Its ${pick(NOUNS)}s`,
    () => `Letters to a ${pick(ADJECTIVES)} ${pick(NOUNS)}, volume ${1 + Math.floor(random() * 12)}`,
  ];
  return Array.from({ length: count }, () => ({
    title: patterns[Math.floor(random() * patterns.length)]?.() ?? '',
    author: `${pick(FORENAMES)} ${pick(SURNAMES)}`,
    // Most are recent.
    year: 2_025 - Math.floor(random() ** 6 * 2_800),
  }));
}

const ADJECTIVES = words(
  'Silent, Golden, Broken, Distant, Hidden, Burning, Forgotten, Patient, Northern, Restless, Gentle, Hollow, Last',
);
const NOUNS = words(
  'River, Garden, Mirror, Captain, Orchard, Lantern, Winter, Bridge, Merchant, Letter, Harbour, Clock, Daughter, Island',
);
const PLACES = words(
  'Lisbon, Kraków, Trieste, Alexandria, Córdoba, Nagasaki, Dublin, Malmö, Samarkand, Valparaíso, Kyōto, Buenos Aires',
);
const FORENAMES = words(
  'Anna, José, Miriam, Søren, Chinua, Virginia, Italo, Zoë, Haruki, Leila, Mikhail, Toni, André, Jane, Ursula, Wisława',
);
const SURNAMES = words(
  "Andersen, García, Okafor, Nakamura, O'Neill, Lindqvist, Petrović, Dubois, Hassan, Kowalski, Müller, Ferreira, Whitfield",
);

function words(text: string): string[] {
  return text.split(', ');
}
