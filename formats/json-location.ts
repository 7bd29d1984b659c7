import { endOfElement, type Scanned, startOfValue } from '../src/json/array-scanner.ts';
import {
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COMMA,
  endOfString,
  isSpace,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
} from '../src/json/characters.ts';
import { guessMapping, type Mapping } from './mapping.ts';
import { readMembers } from './members.ts';

/** Where the books of a JSON file are: in an array, as the values of an object, or one after the other. */
interface BooksLocation {
  readonly scanned: Scanned;
  /** The index of the first byte of the array or object. */
  readonly at: number;
  /** Whether it is inside an object, of which the rest is not read. */
  readonly isInside: boolean;
}

/**
 * Finds the books in a JSON text: an array of objects at the top or inside an object, such as `{"data": [...]}`; an object with
 * objects as values, such as `{"1001": {...}, "1002": {...}}`; or objects one after the other.
 *
 * @param start the beginning of the text, or all of it
 */
export function locateBooks(start: Uint8Array): BooksLocation {
  const at = skipSpace(start, 0);
  if (start[at] !== OPENING_BRACE) return { scanned: 'array', at: 0, isInside: false };
  const top = inspectObject(start, at);
  const isFollowed = top.end !== undefined && skipSpace(start, top.end) < start.length;
  const isBook = isFollowed || isComplete(top.mapping);
  const inside = isBook ? undefined : (top.books ?? top.members ?? top.others);
  return inside ? { ...inside, isInside: true } : { scanned: 'sequence', at: 0, isInside: false };
}

/**
 * Whether there is an array of objects with title and author in the objects that surround those which were read.
 *
 * @param rest what follows these
 */
export function hasFurtherBooks(rest: Uint8Array): boolean {
  for (let at = skipSpace(rest, 0); at < rest.length; at = skipSpace(rest, at)) {
    if (rest[at] === CLOSING_BRACE) at++;
    else if (rest[at] === COMMA) {
      const { books, end } = inspectObject(rest, at);
      if (books && isComplete(guessedFrom(rest, skipSpace(rest, books.at + 1)))) return true;
      at = end ?? rest.length;
    } else return false;
  }
  return false;
}

/** How deep in objects the array is found: Solr has 2, GraphQL 4. */
const INSPECTED_LEVELS = 5;

interface InspectedObject {
  readonly mapping: Mapping;
  /** What is inside: an array of books, an object of books, and an array of other objects. */
  readonly books: Inside | undefined;
  readonly members: Inside | undefined;
  readonly others: Inside | undefined;
  /** The index after its brace; undefined when that is not in the bytes. */
  readonly end: number | undefined;
}

type Inside = Pick<BooksLocation, 'scanned' | 'at'>;

/** @param start the index of its brace, or of a comma between members, from which on it is inspected */
function inspectObject(bytes: Uint8Array, start: number, depth = 1): InspectedObject {
  const names: string[] = [];
  let books: Inside | undefined;
  let members: Inside | undefined;
  let others: Inside | undefined;
  let empty: Inside | undefined;
  let end: number | undefined;
  let at = skipSpace(bytes, start + 1);
  while (bytes[at] === QUOTE) {
    const value = startOfValue(bytes, at);
    if (value === undefined || value === at) break;
    names.push(new TextDecoder().decode(bytes.subarray(at + 1, endOfString(bytes, at))));
    if (bytes[value] === OPENING_BRACKET) {
      const first = skipSpace(bytes, value + 1);
      const array: Inside = { scanned: 'array', at: value };
      if (bytes[first] === CLOSING_BRACKET) empty ??= array;
      else if (bytes[first] === OPENING_BRACE) {
        if (looksLikeBook(bytes, first)) books ??= array;
        else others ??= array;
      }
    } else if (bytes[value] === OPENING_BRACE) {
      if (looksLikeBook(bytes, value)) members ??= { scanned: 'object', at: start };
      else if (depth < INSPECTED_LEVELS) {
        const inner = inspectObject(bytes, value, depth + 1);
        books ??= inner.books;
        members ??= inner.members;
        others ??= inner.others;
      }
    }
    const valueEnd = endOfElement(bytes, value, false);
    if (valueEnd === undefined) break;
    at = skipSpace(bytes, valueEnd);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
  }
  if (bytes[at] === CLOSING_BRACE) end = at + 1;
  return { mapping: guessMapping(names), books, members, others: others ?? empty, end };
}

/** Whether the object at `at` has a title or an author; `name` alone may be that of anything. */
function looksLikeBook(bytes: Uint8Array, at: number): boolean {
  const { title, author } = guessedFrom(bytes, at);
  return author !== undefined || (title !== undefined && title.toLowerCase() !== 'name');
}

/** The columns in the object at `at`; none if it does not end in the bytes. */
function guessedFrom(bytes: Uint8Array, at: number): Mapping {
  const end = endOfElement(bytes, at, false) ?? at;
  return guessMapping(readMembers(bytes.subarray(at, end)).map(([name]) => name));
}

function isComplete({ title, author }: Mapping): boolean {
  return title !== undefined && author !== undefined;
}

function skipSpace(bytes: Uint8Array, at: number): number {
  let next = at;
  while (isSpace(bytes[next])) next++;
  return next;
}
