import { Random } from '../campaigns/random.ts';
import type { BookFields } from '../src/book/contract.ts';

/** The number of books at the start of a measurement. */
export const BOOKS = 10_000;

/** Generates books with titles and authors of usual lengths, some with non-ASCII characters, determined by the seed. */
export function makeBooks(count: number, seed: number): BookFields[] {
  const random = new Random(seed);
  const pick = (from: readonly string[]) => random.pick(from) ?? '';
  const patterns = [
    () => `The ${pick(ADJECTIVES)} ${pick(NOUNS)}`,
    () => `${pick(NOUNS)} of ${pick(PLACES)}`,
    () => `A ${pick(ADJECTIVES)} ${pick(NOUNS)} in ${pick(PLACES)}`,
    () => `The ${pick(NOUNS)} and the ${pick(NOUNS)}`,
    () => `${pick(PLACES)}: A History of Its ${pick(NOUNS)}s`,
    () => `Letters to a ${pick(ADJECTIVES)} ${pick(NOUNS)}, volume ${1 + random.below(12)}`,
  ];
  return Array.from({ length: count }, () => ({
    title: random.pick(patterns)?.() ?? '',
    author: `${pick(FORENAMES)} ${pick(SURNAMES)}`,
    // Most are recent.
    year: 2_025 - Math.floor(random.next() ** 6 * 2_800),
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
