import { type InvalidBooks, readElements } from '../api/many-books.ts';
import { describeInvalidId } from '../book/book.ts';
import { Invalid } from '../json/invalid.ts';
import { readJsonInteger } from '../json/json-object.ts';

/** Reads the body of `POST /books/restore`: the different ids of books. */
export async function readIds(body: Uint8Array): Promise<readonly number[] | InvalidBooks> {
  const ids = new Set<number>();
  const invalid = await readElements(body, (element) => {
    const id = readJsonInteger(element);
    if (typeof id !== 'number' || id < 0) return new Invalid(`an id ${describeInvalidId(id)}`);
    if (ids.has(id)) return new Invalid(`the id ${id} a second time`);
    ids.add(id);
    return undefined;
  });
  return invalid ?? [...ids];
}
