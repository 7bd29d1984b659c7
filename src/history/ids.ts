import { BOOKS_MAX, type InvalidBooks, NO_ARRAY } from '../api/many-books.ts';
import { describeInvalidId } from '../book/book.ts';

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads the body of `POST /books/restore`: the different ids of up to {@link BOOKS_MAX} books. */
export function readIds(body: Uint8Array): readonly number[] | InvalidBooks {
  let elements: unknown;
  try {
    elements = JSON.parse(strictUtf8.decode(body));
  } catch {
    // It is no array, then.
  }
  if (!Array.isArray(elements)) return NO_ARRAY;
  const ids = new Set<number>();
  for (const [index, id] of elements.entries()) {
    if (index === BOOKS_MAX) return { invalidIndex: index, detail: `more than ${BOOKS_MAX} books` };
    if (!Number.isSafeInteger(id) || id < 0)
      return { invalidIndex: index, detail: `an id ${describeInvalidId(id)}` };
    if (ids.has(id)) return { invalidIndex: index, detail: `the id ${id} a second time` };
    ids.add(id);
  }
  return [...ids];
}
