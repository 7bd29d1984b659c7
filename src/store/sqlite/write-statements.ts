import type { DatabaseSync } from 'node:sqlite';
import { ID_MAX } from '../../book/book.ts';
import { eachField, FIELD_LIST } from '../each-field.ts';
import {
  BOOK_COLUMNS,
  FIELD_PARAMETERS,
  fieldOf,
  jsonOf,
  prepareBook,
  SELECT,
  TEXT_BYTES,
} from './book-columns.ts';

const UPDATE = `update books set ${eachField((name) => `${name} = coalesce(?, ${name})`)} where id = ?`;
const DELETE = 'delete from books where id = ?';
const IS_EXPECTED = `(${eachField(fieldOf)}) = (${FIELD_PARAMETERS})`;
/** Changes a book that still has the expected fields. */
export const UPDATE_EXPECTED = `${UPDATE} and ${IS_EXPECTED} returning ${BOOK_COLUMNS}`;
const RENDERED = jsonOf((name) => name);

export type WriteStatements = ReturnType<typeof prepareWriteStatements>;

/** The statements that change books, and what these need to read, for a connection that writes. */
export function prepareWriteStatements(database: DatabaseSync) {
  database.exec('create temp table if not exists last_id (id integer primary key)');
  return {
    /** SQLite remembers the id of the last insert of the connection: now 1. */
    forgetLastId: database.prepare('insert or replace into temp.last_id values (1)'),
    select: prepareBook(database, SELECT),
    selectBytes: database.prepare(`select ${TEXT_BYTES} as bytes from books where id = ?`),
    /** A book as JSON in UTF-8, outside the memory for texts. */
    render: database.prepare(`select cast(${RENDERED} as blob) as json from (${SELECT})`),
    /**
     * In short: `insert into books (title, author, year) values (?, ?, ?) returning id, title, author, year`. As in all statements that
     * change books, the triggers of the log run in it (changes/sqlite/tables.ts).
     */
    insert: prepareBook(
      database,
      `insert into books (${FIELD_LIST}) values (${FIELD_PARAMETERS}) returning ${BOOK_COLUMNS}`,
    ),
    /** A JSON array of books in UTF-8, with ascending ids in their order. */
    insertMany: database.prepare(`
      insert into books (${FIELD_LIST})
      select ${eachField((name) => `value ->> '${name}'`)} from json_each(cast(? as text)) order by key
    `),
    countElements: database.prepare('select json_array_length(cast(? as text)) as count'),
    /** The highest id, or 0; a book inserted later in the same transaction has a higher one. */
    selectHighestId: database.prepare(`select coalesce(max(id), 0) as id from books where id <= ${ID_MAX}`),
    selectAbove: database.prepare(`
      select cast(coalesce(group_concat(${RENDERED}, ','), '') as blob) as json
      from (select ${BOOK_COLUMNS} from books where id > ? order by id)
    `),
    update: prepareBook(database, `${UPDATE} returning ${BOOK_COLUMNS}`),
    updateExpected: prepareBook(database, UPDATE_EXPECTED),
    delete: database.prepare(DELETE),
    deleteExpected: database.prepare(`${DELETE} and ${IS_EXPECTED}`),
  };
}
