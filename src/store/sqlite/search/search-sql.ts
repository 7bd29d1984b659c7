import { type BookPosition, type BookQuery, SORT_KEY_LENGTH, YEAR_MAX } from '../../../book/book.ts';
import type { Needles } from '../../search/folding.ts';
import { keyColumnOf } from '../../search/page-builder.ts';
import { BOOK } from '../sql.ts';

/** A part of a statement, with the values of its parameters. */
export interface Sql {
  readonly text: string;
  readonly values: Readonly<Record<string, string | number>>;
}

/** What a search reads: the table that is made for it, … */
export const INDEXED = 'book_search';

/** … or the books themselves, as many of them as may be sorted. */
export function unindexed({ sort }: BookQuery): string {
  const bytes = 'coalesce(octet_length(title), 0) + coalesce(octet_length(author), 0)';
  return `(
    select id, coalesce(title, '') as title, coalesce(author, '') as author, coalesce(year, 0) as year,
      substr(coalesce(title, ''), 1, ${SORT_KEY_LENGTH}) as title_key,
      substr(coalesce(author, ''), 1, ${SORT_KEY_LENGTH}) as author_key, ${bytes} as bytes
    from books ${sort === 'id' ? '' : `where is_sortable(${bytes})`}
  )`;
}

/** Adds a book to that table: its fields, and its texts as they are compared. */
export const ADD = `
  insert into book_search
  values (
    ?1, substr(?2, 1, ${SORT_KEY_LENGTH}), substr(?3, 1, ${SORT_KEY_LENGTH}), ?4, octet_length(?2) + octet_length(?3),
    ?5, ?6, ?7
  )
`;

/** The condition on the years of a query. */
export function yearsOf({ yearFrom, yearTo }: BookQuery): Sql {
  const conditions: string[] = [];
  if (yearFrom > -YEAR_MAX) conditions.push('year >= :yearFrom');
  if (yearTo < YEAR_MAX) conditions.push('year <= :yearTo');
  return {
    text: conditions.join(' and ') || 'true',
    values: { ...(yearFrom > -YEAR_MAX && { yearFrom }), ...(yearTo < YEAR_MAX && { yearTo }) },
  };
}

/** The condition on the texts of a book, by the functions of Matching, which also limit what a statement reads. */
export function textsOf(needles: Needles | undefined, isIndexed: boolean): string {
  if (!isIndexed) return 'is_book_match(title, author)';
  if (!needles) return 'true';
  const title = needles.title ? 'title_lower' : 'null';
  const author = needles.author ? 'author_lower' : 'null';
  return `is_match(${title}, ${author}, ${needles.words.length > 0 ? 'words' : 'null'})`;
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

/** The columns of a candidate, as PageBuilder takes it. */
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
