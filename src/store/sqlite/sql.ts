import { ID_MAX, YEAR_MAX } from '../../book/book.ts';

/**
 * The number that the service has for one that another program has stored while it ran (the honest accident): within the range
 * that a JSON number, and `node:sqlite`, have exactly. The start refuses a table with others (see `expectBooks`).
 */
export const exact = (column: string) => `
  case
    when cast(${column} as integer) between -${YEAR_MAX} and ${YEAR_MAX} then cast(${column} as integer)
    when ${column} > 0 then ${YEAR_MAX} when ${column} < 0 then -${YEAR_MAX} else 0
  end`;

/**
 * The text that the service has for what another program has stored in a table of its own: NULL reads as empty. A BLOB or a number,
 * stored while the service ran (the honest accident), reads as text; the start refuses a table with one (see `expectBooks`).
 */
export const textOf = (column: string) => `cast(coalesce(${column}, '') as text)`;

/**
 * Other ids have no book: two of them could be the same number. The `+` keeps SQLite from beginning a range here: of `id > :after` and
 * this, it would take this one, and each page of a list would read all the books before it.
 */
export const HAS_EXACT_ID = `+id between -${ID_MAX} and ${ID_MAX}`;

export const BOOK_COLUMNS = `books.id as id, ${textOf('title')} as title, ${textOf('author')} as author, ${exact('year')} as year`;

export const INSERT = `insert into books (title, author, year) values (?, ?, ?) returning ${BOOK_COLUMNS}`;
export const INSERT_PLAIN = 'insert into books (title, author, year) values (?, ?, ?)';

export const INSERT_WITH_ID =
  'insert into books (id, title, author, year) values (?, ?, ?, ?) on conflict (id) do nothing';

/** A JSON array of books in UTF-8, with ascending ids in their order. */
export const INSERT_MANY = `
  insert into books (title, author, year)
  select value ->> 'title', value ->> 'author', value ->> 'year' from json_each(cast(? as text)) order by key
`;

export const COUNT_ELEMENTS = 'select json_array_length(cast(? as text)) as count';

const RENDERED = `json_object('id', id, 'title', title, 'author', author, 'year', year)`;

/** The highest id, or 0; a book inserted later in the same transaction has a higher one. */
export const SELECT_HIGHEST_ID = `select coalesce(max(id), 0) as id from books where id <= ${ID_MAX}`;

export const SELECT_ABOVE = `
  select cast(coalesce(group_concat(${RENDERED}, ','), '') as blob) as json
  from (select ${BOOK_COLUMNS} from books where id > ? order by id)
`;

/** The length of a book; `octet_length` of a bare column does not read the text. */
export const SELECT_BYTES =
  'select coalesce(octet_length(title), 0) + coalesce(octet_length(author), 0) as bytes from books where id = ?';

export const SELECT = `select ${BOOK_COLUMNS} from books where id = ?`;

/** The same as JSON in UTF-8, outside the memory for texts. */
export const RENDER = `select cast(${RENDERED} as blob) as json from (${SELECT})`;

/** The statements of a page: with all its books in a row, and with each in a row. */
const pageOf = (title: string, author: string, year: string, condition: string) => {
  // SQLite prepares a statement anew for each value of a bare parameter as the limit.
  const next = `from books where id > :after and ${condition} order by id limit 0 + :limit`;
  const json = `json_object('id', id, 'title', ${title}, 'author', ${author}, 'year', ${year})`;
  return {
    whole: `
      select last, json, exists (select 1 from books where id > last and ${condition}) as more
      from (
        select max(id) as last, cast(group_concat(json, ',') as blob) as json from (select id, ${json} as json ${next})
      )
    `,
    books: `select id, cast(${json} as blob) as json ${next}`,
  };
};
/** A page of a table that another program has created. */
export const PAGE = pageOf(textOf('title'), textOf('author'), exact('year'), HAS_EXACT_ID);
/** The constraints of the service's own table keep its rows valid: a list takes a fifth less of the time. */
export const OWN_PAGE = pageOf('title', 'author', 'year', 'true');

export const UPDATE = `
  update books set title = coalesce(?, title), author = coalesce(?, author), year = coalesce(?, year)
  where id = ? returning ${BOOK_COLUMNS}
`;

export const DELETE = 'delete from books where id = ?';

const EXPECTED = `and (${textOf('title')}, ${textOf('author')}, ${exact('year')}) = (?, ?, ?)`;

export const UPDATE_EXPECTED = UPDATE.replace('returning', `${EXPECTED} returning`);

export const DELETE_EXPECTED = `${DELETE} ${EXPECTED}`;
