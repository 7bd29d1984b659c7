import { YEAR_MAX } from '../../book/book.ts';
import type { BookPosition, BookQuery } from '../../book/book-store-interface.ts';

/** SQL that both engines understand; `book_search` is the table of the search index in both. */

/** The values of a statement's parameters, which are numbered in the order of their addition. */
export class Parameters {
  readonly values: (string | number | number[] | string[])[] = [];
  readonly #sign: string;

  /** @param sign what is in front of the number of a parameter */
  constructor(sign: '?' | '$') {
    this.#sign = sign;
  }

  /** @returns the parameter that has this value */
  add(value: (typeof this.values)[number]): string {
    this.values.push(value);
    return `${this.#sign}${this.values.length}`;
  }
}

/** A condition, whose values become parameters of a statement. */
export type Condition = (parameters: Parameters) => string;

/** The condition on the years of a query. */
export function yearsOf({ yearFrom, yearTo }: BookQuery, parameters: Parameters): string {
  const conditions = [];
  if (yearFrom > -YEAR_MAX) conditions.push(`year >= ${parameters.add(yearFrom)}`);
  if (yearTo < YEAR_MAX) conditions.push(`year <= ${parameters.add(yearTo)}`);
  return conditions.join(' and ') || 'true';
}

/** Whether a query is limited to some years. */
export function hasYears({ yearFrom, yearTo }: BookQuery): boolean {
  return yearFrom > -YEAR_MAX || yearTo < YEAR_MAX;
}

/** What follows a position: ranges that an index has in the order of the query, one after the other. */
export function rangesBehind(
  { sort, isDescending }: BookQuery,
  position: BookPosition | undefined,
): Condition[] {
  if (!position) return [() => 'true'];
  const { key, id } = position;
  const comparison = isDescending ? '<' : '>';
  if (sort === 'id') return [(parameters) => `id ${comparison} ${parameters.add(id)}`];
  const column = keyColumnOf({ sort });
  return [
    (parameters) => `${column} = ${parameters.add(key)} and id > ${parameters.add(id)}`,
    (parameters) => `${column} ${comparison} ${parameters.add(key)}`,
  ];
}

/** All of that in one condition. */
export function behind(query: BookQuery, position: BookPosition | undefined, parameters: Parameters): string {
  const ranges = rangesBehind(query, position).map((range) => `(${range(parameters)})`);
  return `(${ranges.join(' or ')})`;
}

export function orderOf({ sort, isDescending }: BookQuery): string {
  const direction = isDescending ? 'desc' : 'asc';
  return sort === 'id' ? `id ${direction}` : `${keyColumnOf({ sort })} ${direction}, id`;
}

/** The columns of a Match. */
export function matchColumns(query: BookQuery): string {
  return `id, ${keyColumnOf(query)} as key, bytes`;
}

/** The column of the sort key. */
export function keyColumnOf({ sort }: Pick<BookQuery, 'sort'>): string {
  return sort === 'title' || sort === 'author' ? `${sort}_key` : sort;
}

/** The length of the texts that a query may compare, in bytes. */
export const COMPARED_BYTES = 'octet_length(title_lower) + octet_length(author_lower) + octet_length(words)';
