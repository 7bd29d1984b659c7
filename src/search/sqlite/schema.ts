import { NEWEST_CHANGE, NEWEST_ID } from '../../store/sqlite/change-log.ts';

/**
 * The newest id and the newest change of this database, and whether an index is of an earlier state of it. The parameters are what
 * the index has, and the newest start that it has seen.
 *
 * Example: an index has the books up to id 120 (`:lastId`) and the changes up to 40 (`:lastChange`), and has seen start 7 with the
 * token A3. The database has start 7 with this token, and start 8 noted id 125 and change 44: it has only gone on, and
 * `isEarlier` is 1. But if a backup was restored that was made
 * - during start 5, then start 7 is missing, or is a later one with another token;
 * - during start 7 when there were 100 books, then start 8 noted id 100, which is less than 120.
 *
 * In both cases, `isEarlier` is 0, and the index is replaced.
 */
export const SELECT_LOG = `
  select coalesce(${NEWEST_ID}, -1e300) as newestId, ${NEWEST_CHANGE} as newestChange, start, token,
    (select name from book_search_index) as name, (select version from book_search_index) as version,
    exists (select 1 from book_search_starts where start = :start and token = :token) and not exists (
      select 1 from book_search_starts
      where start > :start and (last_change < :lastChange or coalesce(last_id, -1e300) < :lastId)
    ) as isEarlier
  from book_search_starts order by start desc limit 1
`;

/**
 * The index, in a file of its own. Its state says which books and changes it has. Words consist of letters, digits and
 * symbols, as those that are folded; their beginnings are found at once, and trigrams are for parts of texts.
 */
export const INDEX = `
  create table book_search_state (
    last_id real not null,
    last_change integer not null,
    start integer not null,
    token text not null,
    is_complete integer not null default 0,
    built_at real not null default 0
  ) strict;
  create table book_search (
    id integer primary key,
    title_key text not null,
    author_key text not null,
    year integer not null,
    bytes integer not null,
    title_lower text not null,
    author_lower text not null,
    words text not null
  ) strict;
  create virtual table book_words using fts5 (
    words, content = '', contentless_delete = 1, detail = none, prefix = '1 2 3 4 5 6',
    tokenize = "ascii tokenchars '$+<=>^\`|~'"
  );
  create virtual table book_trigrams using fts5 (
    words, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1'
  );
`;

/** Created when the index has all books: sorting them once is several times faster than inserting each. */
export const ORDERS = ['title_key', 'author_key', 'year'].map(
  (column) => `create index if not exists search.by_${column} on book_search (${column})`,
);

export const ADD = 'insert into book_search values (?, ?, ?, ?, ?, ?, ?, ?)';
