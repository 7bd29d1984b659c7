import type { Book } from '../src/book/contract.ts';
import { twinKeyOf } from '../src/search/folding.ts';
import {
  compareKeys,
  hasTyped,
  keyOf,
  keyStartOf,
  lower,
  remembering,
  wordsIn,
} from './folding-reference.ts';

/** The parameters of `GET /books` as text. */
export type Parameters = Readonly<Record<string, string>>;

/** The books that `GET /books` returns for these parameters, without `limit` and `after`. */
export function expectedBooks(books: readonly Book[], parameters: Parameters): Book[] {
  const { title = '', author = '', q, year, year_from, year_to, twins, offset, from } = parameters;
  const { sort = 'id' } = parameters;
  const key = sort.replace('-', '') as keyof Book;
  const direction = sort.startsWith('-') ? -1 : 1;
  return books
    .filter(
      (book) =>
        lower(cut(book.title)).includes(lower(title)) && lower(cut(book.author)).includes(lower(author)),
    )
    .filter((book) => q === undefined || hasTyped(q, [cut(book.title), cut(book.author)]))
    .filter((book) => year === undefined || book.year === Number(year))
    .filter((book) => year_from === undefined || book.year >= Number(year_from))
    .filter((book) => year_to === undefined || book.year <= Number(year_to))
    .filter((book) => twins !== 'true' || books.some((other) => areTwins(book, other)))
    .map((book) => {
      if (twins === 'true') return { book, key: twinKeyOf(book) };
      return { book, key: typeof book[key] === 'number' ? book[key] : keyOf(book[key]) };
    })
    .toSorted((a, b) => direction * (compare(a.key, b.key) || a.book.id - b.book.id))
    .map(({ book }) => book)
    .filter((book) => from === undefined || !isBefore(book[key], from, direction))
    .slice(Number(offset ?? 0));
}

/** Whether a key is before `from` in an order. A text that begins with its words is not. */
function isBefore(key: string | number, from: string, direction: number): boolean {
  if (typeof key === 'number') return direction * (key - Number(from)) < 0;
  const words = keyStartOf(from);
  if (keyOf(key).startsWith(words)) return false;
  return direction * compareKeys(keyOf(key), words) < 0;
}

/** The keys of twins, in whose order they are, are those of the service. */
function areTwins(one: Book, other: Book): boolean {
  if (one.id === other.id || textsOf(one) !== textsOf(other)) return false;
  return one.year === 0 || other.year === 0 || Math.abs(one.year - other.year) <= 1;
}

function textsOf({ title, author }: Book): string {
  const texts = [title, author].map(cut).map((text) => [wordsIn(text), wordsIn(text).length === 0 && text]);
  return JSON.stringify(texts);
}

/** The characters that a search compares. */
const cut = remembering((text) => Array.from(text).slice(0, 8_192).join(''));

function compare(a: number | string, b: number | string): number {
  return typeof a === 'string' && typeof b === 'string' ? compareKeys(a, b) : Number(a) - Number(b);
}
