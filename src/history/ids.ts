import { readElements } from '../api/many-books.ts';
import { describeInvalidId } from '../book/book-update.ts';
import type { Rejection } from '../http/rejection.ts';
import { Invalid } from '../json/invalid.ts';
import { readJsonInteger } from '../json/json-object.ts';

/** Reads the body of `POST /books/restore`: the different ids of books. */
export async function readIds(body: Uint8Array): Promise<readonly number[] | Rejection> {
  const ids = new Set<number>();
  const rejection = await readElements(body, (element) => {
    const id = readJsonInteger(element);
    if (typeof id !== 'number' || id < 0) return new Invalid(`an id ${describeInvalidId(id)}`);
    if (ids.has(id)) return new Invalid(`the id ${id} a second time`);
    ids.add(id);
    return undefined;
  });
  return rejection ?? [...ids];
}
