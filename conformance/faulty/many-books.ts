import type { Book } from '../expect.ts';
import { readFields } from './body.ts';
import type { Reply } from './reply.ts';
import type { Planted } from './violations.ts';

/** A change, without the names of its fields in other cases. */
interface BookUpdate {
  readonly id: number;
  readonly deleted?: boolean;
  readonly ifmatch?: string;
  readonly fields: object;
}

/** Reads the body of `PATCH /books`. @returns the index of the first invalid change; undefined when it is no array */
export function readUpdates(body: Buffer, has: Planted): readonly BookUpdate[] | number | undefined {
  let elements: unknown;
  try {
    elements = JSON.parse(body.toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(elements)) return undefined;
  const ids = new Set<unknown>();
  const updates: BookUpdate[] = [];
  for (const [index, element] of elements.entries()) {
    const json = Buffer.from(JSON.stringify(element));
    const fields = readFields(json, ['title', 'author', 'year'], has);
    if (!fields) return index;
    const members = Object.entries(element as object).map(([name, value]) => [name.toLowerCase(), value]);
    const { id, deleted, ifmatch } = Object.fromEntries(members) as BookUpdate;
    const isValid =
      Number.isSafeInteger(id) &&
      id >= 0 &&
      ['undefined', 'boolean'].includes(typeof deleted) &&
      ['undefined', 'string'].includes(typeof ifmatch) &&
      !(deleted && Object.keys(fields).length > 0);
    const isRepeated = ids.has(id) && !has('PATCH accepts an id twice');
    if (!isValid || isRepeated) return index;
    ids.add(id);
    updates.push({ id, fields, ...(deleted && { deleted }), ...(ifmatch !== undefined && { ifmatch }) });
  }
  return updates;
}

/** Reads the body of `POST /books/restore`. @returns the index of the first invalid id; undefined when it is no array */
export function readIds(body: Buffer, has: Planted): readonly number[] | number | undefined {
  let ids: unknown;
  try {
    ids = JSON.parse(body.toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(ids)) return undefined;
  const isRepeated = (id: unknown, index: number) =>
    ids.indexOf(id) !== index && !has('a restore of many accepts an id twice');
  const invalid = ids.findIndex((id, index) => !Number.isSafeInteger(id) || isRepeated(id, index));
  return invalid === -1 ? (ids as number[]) : invalid;
}

/** The response to the first change whose book is absent or has none of the tags, as no book of this server has any. */
export function faultOf(
  updates: readonly BookUpdate[],
  books: ReadonlyMap<number, Book>,
  has: Planted,
): Reply | undefined {
  const isAbsent = ({ id }: BookUpdate) => !books.has(id) && !has('PATCH skips absent books');
  const isOther = ({ ifmatch = '*' }: BookUpdate) => ifmatch !== '*' && !has('PATCH ignores ifMatch');
  const first = (is: (update: BookUpdate) => boolean) => updates.findIndex(is);
  const index = has('PATCH checks all books before the tags')
    ? [first(isAbsent), first(isOther)].find((at) => at !== -1)
    : first((update) => isAbsent(update) || isOther(update));
  const update = updates[index ?? -1];
  if (!update) return undefined;
  const headers = { 'Invalid-Index': `${index}` };
  return isAbsent(update)
    ? { status: 404, message: 'Book not found', headers }
    : { status: 412, message: 'Precondition failed', headers };
}
