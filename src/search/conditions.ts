// SQL for both engines; `book_search` is the table of the search index on both.

import { YEAR_MAX } from '../book/book.ts';
import { GAP } from '../book/folded-text.ts';
import type { BookPosition, ListOrder, SearchQuery } from './book-search.ts';
import type { Needles } from './folding.ts';
import { type Condition, Parameters } from './parameters.ts';
import type { Dialect } from './snapshot.ts';
import { storedLower, storedWords } from './stored-texts.ts';

/** The condition on fields that are compared as stored, not as folded texts; the other filters are `Needles`. */
export function fieldCondition({ yearFrom, yearTo }: SearchQuery, parameters: Parameters): string {
  const conditions = [];
  if (yearFrom > -YEAR_MAX) conditions.push(`year >= ${parameters.add(yearFrom)}`);
  if (yearTo < YEAR_MAX) conditions.push(`year <= ${parameters.add(yearTo)}`);
  return conditions.join(' and ') || 'true';
}

/** Whether a query has a condition that needs no folded texts, such as one on years. */
export function hasFieldCondition(query: SearchQuery): boolean {
  return fieldCondition(query, new Parameters('?')) !== 'true';
}

/** The condition on folded texts, for statements over the index. */
export function textCondition(
  needles: Needles | undefined,
  dialect: Dialect,
  parameters: Parameters,
): string {
  if (!needles) return 'true';
  const contains = (text: string, part: string) =>
    `${dialect.placeFunction}(${text}, ${parameters.add(part)}) > 0`;
  const conditions = needles.words.map((word) => contains(storedWords(dialect), word.replaceAll(GAP, ' ')));
  if (needles.title) conditions.push(contains(storedLower('title', dialect), needles.title));
  if (needles.author) conditions.push(contains(storedLower('author', dialect), needles.author));
  return conditions.join(' and ');
}

/**
 * The condition that a book has a twin. Each `exists` reads a few rows of an index of keys and years, however many books have the key.
 *
 * @param books the name of the books in the statement
 */
export function twinCondition({ sort }: SearchQuery, books: string): string {
  if (sort !== 'twins') return 'true';
  const others = `select 1 from book_search as twin where twin.twin_key = ${books}.twin_key and twin.id <> ${books}.id`;
  return `(
    exists (${others} and twin.year between ${books}.year - 1 and ${books}.year + 1)
    or exists (${others} and twin.year = 0)
    or (${books}.year = 0 and exists (${others})))`;
}

/** Whether a query has a condition on fields that an index in its order does not select. */
export function comparesFields(query: SearchQuery): boolean {
  return query.sort !== 'year' && hasFieldCondition(query);
}

/** The books after a position, in the order of the query. */
export function afterCondition(query: SearchQuery, position: BookPosition | undefined): Condition {
  if (!position) return () => 'true';
  const { key, id } = position;
  const comparison = query.isDescending ? '<' : '>';
  const column = keyColumnOf(query);
  // node:sqlite binds numbers as real ones, by which FTS5 does not begin in the middle of the books of a word.
  if (column === 'id') return (parameters) => `id ${comparison} cast(${parameters.add(id)} as bigint)`;
  return (parameters) => `(${column}, id) ${comparison} (${parameters.add(key)}, ${parameters.add(id)})`;
}

/** Without a condition there is no clause, as SQLite counts a whole table several times faster. */
export function where(...conditions: readonly string[]): string {
  const effective = conditions.filter((condition) => condition !== 'true');
  return effective.length === 0 ? '' : `where ${effective.join(' and ')}`;
}

/** The `order by` of a query: equal keys are in the order of ids. */
export function orderOf({ sort, isDescending }: Pick<SearchQuery, 'sort' | 'isDescending'>): string {
  const direction = isDescending ? 'desc' : 'asc';
  return sort === 'id' ? `id ${direction}` : `${keyColumnOf({ sort })} ${direction}, id ${direction}`;
}

/** Selects the position of the `number`-th book that meets a condition: engines find it by an index alone. */
export function selectPosition(query: SearchQuery, books: string, condition: string, number: string): string {
  return `
    select id, ${keyColumnOf(query)} as key from ${books} where ${condition}
    order by ${orderOf(query)} limit 1 offset ${number} - 1`;
}

/** The columns of a match (snapshot.ts) in a select list. */
export function matchColumns(query: SearchQuery): string {
  return `id, ${keyColumnOf(query)} as key, bytes`;
}

export function keyColumnOf({ sort }: Pick<SearchQuery, 'sort'>): string {
  return KEY_COLUMNS[sort];
}

const KEY_COLUMNS: Readonly<Record<ListOrder, string>> = {
  id: 'id',
  title: 'title_key',
  author: 'author_key',
  year: 'year',
  twins: 'twin_key',
};
