import type { Book } from '../src/book/book.ts';
import { SORT_KEY_LENGTH } from '../src/search/book-search.ts';

const RESULTS_MAX = 10_000;

/** The parameters of `GET /books` as text. */
export type Parameters = Readonly<Record<string, string>>;

/** The books that `GET /books` returns for these parameters, without `limit` and `after`. */
export function expectedBooks(books: readonly Book[], parameters: Parameters): Book[] {
  const { title = '', author = '', q = '', year, year_from, year_to, sort = 'id', offset, from } = parameters;
  const key = sort.replace('-', '') as keyof Book;
  const direction = sort.startsWith('-') ? -1 : 1;
  const prefixes = wordsIn(q);
  return books
    .filter(
      (book) =>
        lower(cut(book.title)).includes(lower(title)) && lower(cut(book.author)).includes(lower(author)),
    )
    .filter((book) => {
      const words = prefixes.length === 0 ? [] : [...wordsIn(cut(book.title)), ...wordsIn(cut(book.author))];
      return prefixes.every((prefix) => words.some((word) => word.startsWith(prefix)));
    })
    .filter((book) => year === undefined || book.year === Number(year))
    .filter((book) => year_from === undefined || book.year >= Number(year_from))
    .filter((book) => year_to === undefined || book.year <= Number(year_to))
    .map((book) => ({ book, key: typeof book[key] === 'number' ? book[key] : Buffer.from(keyOf(book[key])) }))
    .toSorted((a, b) => direction * (compare(a.key, b.key) || a.book.id - b.book.id))
    .map(({ book }) => book)
    .filter((book) => from === undefined || !isBefore(book[key], from, direction))
    .slice(Number(offset ?? 0));
}

/** Whether a key is before `from` in an order. A text that begins with its words is not. */
function isBefore(key: string | number, from: string, direction: number): boolean {
  if (typeof key === 'number') return direction * (key - Number(from)) < 0;
  const words = Array.from(wordsIn(from).join(' ')).slice(0, SORT_KEY_LENGTH).join('');
  if (keyOf(key).startsWith(words)) return false;
  return direction * Buffer.compare(Buffer.from(keyOf(key)), Buffer.from(words)) < 0;
}

/** The characters that a search compares. */
const cut = remembering((text) => Array.from(text).slice(0, 8_192).join(''));

function lower(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}

const wordsIn = remembering((text) => {
  const folded = lower(text)
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .toLowerCase();
  return folded.split(/[\p{Z}\p{Cc}\p{P}]+/u).filter((word) => word !== '');
});

/** Compares numbers, or texts in UTF-8, whose order is that of code points. */
function compare(a: number | Buffer, b: number | Buffer): number {
  return Buffer.isBuffer(a) && Buffer.isBuffer(b) ? Buffer.compare(a, b) : Number(a) - Number(b);
}

/** A function of a text that keeps its latest results: a test asks for the same ones with each query. */
function remembering<Result>(compute: (text: string) => Result): (text: string) => Result {
  const results = new Map<string, Result>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known;
    if (results.size === RESULTS_MAX) results.clear();
    const result = compute(text);
    results.set(text, result);
    return result;
  };
}

/** The key by which a text is sorted. */
export function keyOf(text: string): string {
  const key = `${wordsIn(text).join(' ')}\u0001${text}`;
  // A code point has at most two UTF-16 code units.
  return Array.from(key.slice(0, 2 * SORT_KEY_LENGTH))
    .slice(0, SORT_KEY_LENGTH)
    .join('');
}
