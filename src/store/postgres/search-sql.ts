import { type BookPosition, type BookQuery, YEAR_MAX } from '../../book.ts';
import type { Needles } from '../text.ts';
import { BOOK } from './sql.ts';

/** A statement in the making: a value that is added becomes a parameter, by its place. */
export class Parameters {
  readonly values: unknown[] = [];

  add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

/** What a search reads: the table that is made for it, … */
export const INDEXED = 'book_search';

/** … and the books themselves. */
export const UNINDEXED = `(
  select id, coalesce(title, '') collate "C" as title, coalesce(author, '') collate "C" as author,
    coalesce(year, 0) as year
  from books
) as unindexed`;

/**
 * Longer keys do not fit into an index (PostgreSQL documentation, "B-Tree Indexes": a third of a page at most), so they
 * have one of their own, by their beginnings.
 */
export const KEY_BYTES_MAX = 2_000;
export const BEGINNING_LENGTH = 500;

/** The condition on the years of a query. */
export function yearsOf({ yearFrom, yearTo }: BookQuery, parameters: Parameters): string {
  const conditions = [];
  if (yearFrom > -YEAR_MAX) conditions.push(`year >= ${parameters.add(yearFrom)}`);
  if (yearTo < YEAR_MAX) conditions.push(`year <= ${parameters.add(yearTo)}`);
  return conditions.join(' and ') || 'true';
}

/** The condition on the texts of a query, in the table that is made for it. */
export function textsOf(needles: Needles | undefined, parameters: Parameters): string {
  const contains = (column: string, part: string) => `position(${parameters.add(part)} in ${column}) > 0`;
  const conditions = [];
  const words = needles?.words ?? [];
  if (words.length === 1) conditions.push(contains('words', words[0] ?? ''));
  if (words.length > 1) {
    const every = `unnest(${parameters.add(words)}::text[]) as word`;
    conditions.push(`not exists (select 1 from ${every} where position(word in words) = 0)`);
  }
  if (needles?.title) conditions.push(contains('title_lower', needles.title));
  if (needles?.author) conditions.push(contains('author_lower', needles.author));
  return conditions.join(' and ') || 'true';
}

/** A part of the books that an index has in the order of a query. */
export interface Range {
  readonly condition: (parameters: Parameters) => string;
  /** The key that all of its books have, where it is one. */
  readonly key?: BookPosition['key'];
}

/** What comes behind a place, in ranges, one after the other. */
export function rangesBehind({ sort, isDescending }: BookQuery, place: BookPosition | undefined): Range[] {
  if (!place) return [{ condition: () => 'true' }];
  const { key, id } = place;
  const comparison = isDescending ? '<' : '>';
  if (sort === 'id') return [{ condition: (parameters) => `id ${comparison} ${parameters.add(id)}` }];
  return [
    { key, condition: (parameters) => `${sort} = ${parameters.add(key)} and id > ${parameters.add(id)}` },
    { condition: (parameters) => `${sort} ${comparison} ${parameters.add(key)}` },
  ];
}

/** All of that in one condition. */
export function behind(query: BookQuery, place: BookPosition | undefined, parameters: Parameters): string {
  const ranges = rangesBehind(query, place).map(({ condition }) => `(${condition(parameters)})`);
  return `(${ranges.join(' or ')})`;
}

export function orderOf({ sort, isDescending }: BookQuery): string {
  const direction = isDescending ? 'desc' : 'asc';
  return sort === 'id' ? `id ${direction}` : `${sort} ${direction}, id`;
}

/**
 * The first books of the table that meet a condition, in the order of a query, as its indexes have them.
 *
 * @param key the key that all of them have. That of a text says which of two indexes has them: PostgreSQL, which
 *   thinks that many are long, would go through all books rather than ask the other
 */
export function firstOf(query: BookQuery, condition: string, limit: number, key?: Range['key']): string {
  const { sort, isDescending } = query;
  const order = orderOf(query);
  const select = `select id, title, author, year, title_lower, author_lower, words from ${INDEXED} where ${condition}`;
  if (sort !== 'title' && sort !== 'author') return `${select} order by ${order} limit ${limit}`;
  const isShort = `octet_length(${sort}) <= ${KEY_BYTES_MAX}`;
  const byBeginning = `left(${sort}, ${BEGINNING_LENGTH}) ${isDescending ? 'desc' : 'asc'}, ${order}`;
  const short = `${select} and ${isShort} order by ${order} limit ${limit}`;
  const long = `${select} and not (${isShort}) order by ${byBeginning} limit ${limit}`;
  if (typeof key === 'string') return Buffer.byteLength(key) <= KEY_BYTES_MAX ? short : long;
  return `select * from ((${short}) union all (${long})) as found order by ${order} limit ${limit}`;
}

/** The columns of a candidate, as Finding takes it. All rows come at once, so of long keys there are only beginnings. */
export function candidate({ sort }: BookQuery): string {
  const bytes = 'octet_length(title) + octet_length(author) as bytes';
  if (sort !== 'title' && sort !== 'author') return `id, ${sort} as key, ${bytes}`;
  const isLong = `octet_length(${sort}) > ${KEY_BYTES_MAX}`;
  return `id, case when ${isLong} then left(${sort}, ${BEGINNING_LENGTH}) else ${sort} end as key,
    case when ${isLong} then md5(${sort}) end as digest, ${bytes}`;
}

/** Books by their ids, in the order of the list of them. */
export const RENDER = `
  select count(*) as count, string_agg(row_to_json(page)::text, ',' order by wanted.position) as json
  from unnest($1::bigint[]) with ordinality as wanted (id, position)
    cross join lateral (select ${BOOK} from books where books.id = wanted.id) as page
`;
