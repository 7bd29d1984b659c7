// SQL for both engines; `book_search` is the table of the search index on both.

import { YEAR_MAX } from '../../book/book.ts';
import type { BookPosition, BookQuery, SortKey } from '../../book/book-store-interface.ts';

/** The values of a statement's parameters, numbered in the order of their addition. */
export class Parameters {
  readonly values: (string | number | number[] | string[])[] = [];
  readonly #sign: string;

  constructor(sign: '?' | '$') {
    this.#sign = sign;
  }

  /** @returns the parameter that has this value, such as `?1` */
  add(value: (typeof this.values)[number]): string {
    this.values.push(value);
    return `${this.#sign}${this.values.length}`;
  }
}

/** A condition, which adds its values to the parameters of a statement. */
export type Condition = (parameters: Parameters) => string;

/** The condition on fields that are compared as stored, not as folded texts; the other filters are {@link Needles}. */
export function fieldCondition({ yearFrom, yearTo }: BookQuery, parameters: Parameters): string {
  const conditions = [];
  if (yearFrom > -YEAR_MAX) conditions.push(`year >= ${parameters.add(yearFrom)}`);
  if (yearTo < YEAR_MAX) conditions.push(`year <= ${parameters.add(yearTo)}`);
  return conditions.join(' and ') || 'true';
}

export function hasFieldCondition(query: BookQuery): boolean {
  return fieldCondition(query, new Parameters('?')) !== 'true';
}

/** Whether books in the order of the query must be compared: an index returns only a range of its own key. */
export function comparesFields(query: BookQuery): boolean {
  return hasFieldCondition({
    ...query,
    ...(query.sort === 'year' && { yearFrom: -YEAR_MAX, yearTo: YEAR_MAX }),
  });
}

/** The books after a position: consecutive ranges, each of which an index returns in the order of the query. */
export function rangesAfter(query: BookQuery, position: BookPosition | undefined): Condition[] {
  if (!position) return [() => 'true'];
  const { key, id } = position;
  const comparison = query.isDescending ? '<' : '>';
  const column = keyColumnOf(query);
  if (column === 'id') return [(parameters) => `id ${comparison} ${parameters.add(id)}`];
  return [
    (parameters) => `${column} = ${parameters.add(key)} and id > ${parameters.add(id)}`,
    (parameters) => `${column} ${comparison} ${parameters.add(key)}`,
  ];
}

/** Without a condition there is no clause, as SQLite counts a whole table several times faster. */
export function where(...conditions: readonly string[]): string {
  const effective = conditions.filter((condition) => condition !== 'true');
  return effective.length === 0 ? '' : `where ${effective.join(' and ')}`;
}

export function afterCondition(query: BookQuery, position: BookPosition | undefined): Condition {
  if (!position) return () => 'true';
  const ranges = rangesAfter(query, position);
  return (parameters) => `(${ranges.map((range) => `(${range(parameters)})`).join(' or ')})`;
}

export function orderOf(query: BookQuery): string {
  const order = `${keyColumnOf(query)} ${query.isDescending ? 'desc' : 'asc'}`;
  return query.sort === 'id' ? order : `${order}, id`;
}

/** Selects the position of the `number`-th book that meets a condition: engines find it by an index alone. */
export function selectPosition(query: BookQuery, books: string, condition: string, number: string): string {
  return `
    select id, ${keyColumnOf(query)} as key from ${books} where ${condition}
    order by ${orderOf(query)} limit 1 offset ${number} - 1`;
}

export function matchColumns(query: BookQuery): string {
  return `id, ${keyColumnOf(query)} as key, bytes`;
}

export function keyColumnOf({ sort }: BookQuery): string {
  return isText(sort) ? `${sort}_key` : sort;
}

export function isText(sort: SortKey): sort is 'title' | 'author' {
  return sort === 'title' || sort === 'author';
}

export const COMPARED_BYTES_SQL = 'bytes + octet_length(words)';
