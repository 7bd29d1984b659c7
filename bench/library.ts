import { Random } from '../campaigns/random.ts';
import type { BookFields } from '../src/book/contract.ts';

/** The number of different words of titles, and of surnames. */
const WORDS = 60_000;
const SURNAMES = 30_000;
/** One of so many books is another edition of the one before it: its twin. */
const EDITION = 100;

const STARTS = words('b br c ch d f g gr h j k l m n p qu r s st t tr v w z');
const VOWELS = words('a a a a e e e e i i o o u é ai ou');
const ENDS = ['', '', '', 'n', 'r', 'l', 's', 'm'] as const;

/**
 * The words of titles by their rank: as in a language, the second is half as frequent as the first, and the last is in about one of
 * 150,000 books.
 */
export const VOCABULARY = inventWords(WORDS, 1);
const SURNAME_LIST = inventWords(SURNAMES, 2).map(capitalize);
const FORENAMES = words(
  'Anna José Miriam Søren Chinua Virginia Italo Zoë Haruki Leila Mikhail Toni André Jane Ursula Wisława Amos Nadia Olga Peter',
);
const SMALL_WORDS = words('of the and in a to for on with');

/** Books as different as those of a library, with titles of 2 to 7 words; the same ones for each count up to it. */
export function* makeLibrary(count: number): Generator<BookFields> {
  const random = new Random(1);
  let book: BookFields | undefined;
  for (let index = 0; index < count; index++) {
    if (book && random.below(EDITION) === 0) book = { ...book, year: book.year + 1 };
    else book = makeBook(random);
    yield book;
  }
}

function makeBook(random: Random): BookFields {
  const length = 2 + random.below(6);
  let title = capitalize(pickWord(random, VOCABULARY));
  for (let word = 1; word < length; word++) {
    const isSmall = word < length - 1 && random.below(4) === 0;
    title += isSmall ? ` ${random.pick(SMALL_WORDS)}` : ` ${capitalize(pickWord(random, VOCABULARY))}`;
  }
  if (random.below(20) === 0) title += `, Volume ${1 + random.below(12)}`;
  return {
    title,
    author: `${random.pick(FORENAMES)} ${pickWord(random, SURNAME_LIST)}`,
    // Most are recent.
    year: 2_025 - Math.floor(random.next() ** 6 * 2_800),
  };
}

/** The ranks are distributed as in Zipf's law. */
function pickWord(random: Random, ranked: readonly string[]): string {
  return ranked[Math.floor(ranked.length ** random.next()) - 1] ?? '';
}

/** Different words of one to four syllables. */
function inventWords(count: number, seed: number): string[] {
  const random = new Random(seed);
  const invented = new Set<string>();
  while (invented.size < count) {
    let word = '';
    for (let syllables = 1 + random.below(4); syllables > 0; syllables--)
      word += `${random.pick(STARTS)}${random.pick(VOWELS)}${random.pick(ENDS)}`;
    invented.add(word);
  }
  return [...invented];
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function words(text: string): string[] {
  return text.split(' ');
}
