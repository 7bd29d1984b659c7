import { type BookPosition, type BookQuery, SORT_KEY_LENGTH, YEAR_MAX } from '../../book.ts';
import { keyColumnOf } from '../finding.ts';
import type { Needles } from '../text.ts';
import { BOOK } from './sql.ts';

/** A part of a statement, with the values of its parameters. */
export interface Sql {
  readonly text: string;
  readonly values: Readonly<Record<string, string | number>>;
}

/** What a search reads: the table that is made for it, … */
export const INDEXED = 'book_search';

/** … and the books themselves, whose texts are folded on the way, by functions of the connection. */
export const UNINDEXED = `(
  select id, substr(title, 1, ${SORT_KEY_LENGTH}) as title_key, substr(author, 1, ${SORT_KEY_LENGTH}) as author_key, year,
    octet_length(title) + octet_length(author) as bytes,
    lower_case(title) as title_lower, lower_case(author) as author_lower, words_of(title, author) as words
  from (
    select id, coalesce(title, '') as title, coalesce(author, '') as author, coalesce(year, 0) as year from books
  )
)`;

/** Adds a book to that table: its fields, and its texts as they are compared. */
export const ADD = `
  insert into book_search
  values (
    ?1, substr(?2, 1, ${SORT_KEY_LENGTH}), substr(?3, 1, ${SORT_KEY_LENGTH}), ?4, octet_length(?2) + octet_length(?3),
    ?5, ?6, ?7
  )
`;

/** The conditions of a query; undefined when there are none. */
export function conditionsOf({ yearFrom, yearTo }: BookQuery, needles: Needles | undefined): Sql | undefined {
  const values: Record<string, string | number> = {};
  const conditions: string[] = [];
  const add = (condition: string, name: string, value: string | number | undefined) => {
    if (value === undefined || value === '') return;
    conditions.push(condition.replace('?', `:${name}`));
    values[name] = value;
  };
  if (yearFrom > -YEAR_MAX) add('year >= ?', 'yearFrom', yearFrom);
  if (yearTo < YEAR_MAX) add('year <= ?', 'yearTo', yearTo);
  add('instr(title_lower, ?) > 0', 'title', needles?.title);
  add('instr(author_lower, ?) > 0', 'author', needles?.author);
  const words = needles?.words ?? [];
  const everyWord = 'not exists (select 1 from json_each(?) where instr(words, value) = 0)';
  if (words.length <= 1) add('instr(words, ?) > 0', 'word', words[0]);
  else add(everyWord, 'allWords', JSON.stringify(words));
  return conditions.length === 0 ? undefined : { text: conditions.join(' and '), values };
}

/** What comes behind a place, in ranges that an index has in the order of the query, one after the other. */
export function rangesBehind({ sort, isDescending }: BookQuery, place: BookPosition | undefined): Sql[] {
  if (!place) return [{ text: 'true', values: {} }];
  const { key, id } = place;
  const comparison = isDescending ? '<' : '>';
  if (sort === 'id') return [{ text: `id ${comparison} :id`, values: { id } }];
  const column = keyColumnOf(sort);
  return [
    { text: `${column} = :key and id > :id`, values: { key, id } },
    { text: `${column} ${comparison} :key`, values: { key } },
  ];
}

/** All of that in one condition. */
export function behind(query: BookQuery, place: BookPosition | undefined): Sql {
  const ranges = rangesBehind(query, place);
  return {
    text: `(${ranges.map(({ text }) => text).join(' or ')})`,
    values: Object.assign({}, ...ranges.map(({ values }) => values)),
  };
}

export function orderOf({ sort, isDescending }: BookQuery): string {
  const direction = isDescending ? 'desc' : 'asc';
  return sort === 'id' ? `id ${direction}` : `${keyColumnOf(sort)} ${direction}, id`;
}

/** The columns of a candidate, as Finding takes it. */
export function candidate({ sort }: BookQuery): string {
  return `id, ${keyColumnOf(sort)} as key, bytes`;
}

/** Books by their ids, in the order of the list of them. */
export const RENDER = `
  select count(*) as count, cast(group_concat(json_object('id', id, 'title', title, 'author', author, 'year', year), ',') as blob) as json
  from (
    select ${BOOK} from json_each(:ids) as wanted cross join books on books.id = wanted.value
    order by wanted.key
  )
`;
