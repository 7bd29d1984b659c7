import { type BookPosition, type BookQuery, SORT_KEY_LENGTH, YEAR_MAX } from '../../../book/book.ts';
import type { Needles } from '../../search/folding.ts';
import { keyColumnOf } from '../../search/page-builder.ts';
import { BOOK } from '../sql.ts';

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
  select id, coalesce(title, '') as title, coalesce(author, '') as author, coalesce(year, 0) as year,
    left(coalesce(title, ''), ${SORT_KEY_LENGTH}) collate "C" as title_key,
    left(coalesce(author, ''), ${SORT_KEY_LENGTH}) collate "C" as author_key,
    coalesce(octet_length(title), 0) + coalesce(octet_length(author), 0) as bytes
  from books
) as unindexed`;

/** The condition on the years of a query. */
export function yearsOf({ yearFrom, yearTo }: BookQuery, parameters: Parameters): string {
  const conditions = [];
  if (yearFrom > -YEAR_MAX) conditions.push(`year >= ${parameters.add(yearFrom)}`);
  if (yearTo < YEAR_MAX) conditions.push(`year <= ${parameters.add(yearTo)}`);
  return conditions.join(' and ') || 'true';
}

/**
 * What the server compares of a query: more words, and longer parts, would take the product of their length and that of
 * the text.
 */
const WORDS_MAX = 4;
const PART = /^.{1,64}/su;

function shorten(part: string): string {
  return PART.exec(part)?.[0] ?? '';
}

/** Whether the server does not compare all of a query, so that the books it finds have to be compared here. */
export function isShortened({ words, title, author }: Needles): boolean {
  const parts = [...words, title ?? '', author ?? ''];
  return words.length > WORDS_MAX || parts.some((part) => shorten(part) !== part);
}

/** The condition on the texts of a query, in the table that is made for it. */
export function textsOf(needles: Needles | undefined, parameters: Parameters): string {
  const contains = (column: string, part: string) =>
    `position(${parameters.add(shorten(part))} in ${column}) > 0`;
  const conditions = [];
  const words = (needles?.words ?? []).slice(0, WORDS_MAX).map(shorten);
  if (words.length === 1) conditions.push(contains('words', words[0] ?? ''));
  if (words.length > 1) {
    const every = `unnest(${parameters.add(words)}::text[]) as word`;
    conditions.push(`not exists (select 1 from ${every} where position(word in words) = 0)`);
  }
  if (needles?.title) conditions.push(contains('title_lower', needles.title));
  if (needles?.author) conditions.push(contains('author_lower', needles.author));
  return conditions.join(' and ') || 'true';
}

/** A condition for a part of the books that an index has in the order of a query. */
export type Range = (parameters: Parameters) => string;

/** What comes behind a place, in ranges, one after the other. */
export function rangesBehind({ sort, isDescending }: BookQuery, place: BookPosition | undefined): Range[] {
  if (!place) return [() => 'true'];
  const { key, id } = place;
  const comparison = isDescending ? '<' : '>';
  if (sort === 'id') return [(parameters) => `id ${comparison} ${parameters.add(id)}`];
  const column = keyColumnOf(sort);
  return [
    (parameters) => `${column} = ${parameters.add(key)} and id > ${parameters.add(id)}`,
    (parameters) => `${column} ${comparison} ${parameters.add(key)}`,
  ];
}

/** All of that in one condition. */
export function behind(query: BookQuery, place: BookPosition | undefined, parameters: Parameters): string {
  const ranges = rangesBehind(query, place).map((range) => `(${range(parameters)})`);
  return `(${ranges.join(' or ')})`;
}

export function orderOf({ sort, isDescending }: BookQuery): string {
  const direction = isDescending ? 'desc' : 'asc';
  return sort === 'id' ? `id ${direction}` : `${keyColumnOf(sort)} ${direction}, id`;
}

/** The first books of the table that meet a condition, in the order of a query, as its indexes have them. */
export function firstOf(query: BookQuery, condition: string, limit: number): string {
  return `select id, title_key, author_key, year, bytes, title_lower, author_lower, words from ${INDEXED}
    where ${condition} order by ${orderOf(query)} limit ${limit}`;
}

/** The length of the texts of a book that a query may compare, in bytes. */
export const COMPARED_BYTES = 'octet_length(title_lower) + octet_length(author_lower) + octet_length(words)';

/** The most bytes of text that a statement compares, but for a single book. */
export const COMPARED_BYTES_MAX = 2 * 1_024 * 1_024;

/**
 * The same books, each with its place among them, `number`, and whether it `fits`: the texts up to it are short enough
 * to be compared in one statement.
 */
export function fittingOf(books: string, order: string): string {
  return `(
    select *, number = 1 or total <= ${COMPARED_BYTES_MAX} as fits
    from (
      select *, row_number() over ahead as number, sum(${COMPARED_BYTES}) over ahead as total
      from (${books}) as looked window ahead as (order by ${order} rows unbounded preceding)
    ) as numbered
  ) as looked`;
}

/** The columns of a candidate, as PageBuilder takes it. */
export function candidate({ sort }: BookQuery): string {
  return `id, ${keyColumnOf(sort)} as key, bytes`;
}

/** Books by their ids, in the order of the list of them. */
export const RENDER = `
  select count(*) as count, string_agg(row_to_json(page)::text, ',' order by wanted.position) as json
  from unnest($1::bigint[]) with ordinality as wanted (id, position)
    cross join lateral (select ${BOOK} from books where books.id = wanted.id) as page
`;
