import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Book } from '../../book/book.ts';
import { takeOverCheckpoints } from '../../store/sqlite/files/connection.ts';
import { exact, HAS_EXACT_ID } from '../../store/sqlite/sql.ts';
import { COMPARED_LENGTH, foldBook } from '../folding.ts';
import { UnfitIndex } from './index-file.ts';
import { ADD, ORDERS, SELECT_LOG } from './schema.ts';

const CHANGES_AT_ONCE = 50;
const MISSING = 'the log lacks changes';

/**
 * What the index has, and the newest book and change that there are. Example: `lastId` 120 and `lastChange` 40, `newestId` 125 and
 * `newestChange` 44. Books 121 to 125 are new; without a history they are not in the log, as ids of new books ascend. Changes 41
 * to 44 of the log name other books that were changed or deleted, or that other programs inserted with an id of their own.
 */
export interface IndexState {
  /** The index has all books up to this id, as they were after this change. */
  lastId: number;
  lastChange: number;
  readonly newestId: number;
  readonly newestChange: number;
  readonly isComplete: number;
}

/** A book with the part of its texts that is compared, and the length of all. */
interface IndexedBook extends Book {
  readonly bytes: number;
}

const SELECT_BOOKS = `
  select id, substr(coalesce(title, ''), 1, ${COMPARED_LENGTH}) as title,
    substr(coalesce(author, ''), 1, ${COMPARED_LENGTH}) as author, ${exact('year')} as year,
    coalesce(octet_length(title), 0) + coalesce(octet_length(author), 0) as bytes
  from books`;

export type Statements = ReturnType<typeof prepareStatements>;

export function prepareStatements(database: DatabaseSync) {
  return {
    state: database.prepare(
      `select last_id as lastId, last_change as lastChange, start, token, is_complete as isComplete, built_at as builtAt
       from book_search_state`,
    ),
    log: database.prepare(SELECT_LOG),
    lock: prepareWrite(database, 'update book_search_state set last_id = last_id'),
    save: prepareWrite(
      database,
      'update book_search_state set last_id = ?, last_change = ?, start = ?, token = ?, is_complete = ?, built_at = ?',
    ),
    checkpoint: takeOverCheckpoints(database, 'search'),
    changes: database.prepare(
      `select note as change, ${exact('id')} as id from book_changes where note > ? order by note limit ${CHANGES_AT_ONCE}`,
    ),
    book: database.prepare(`${SELECT_BOOKS} where id = ?`),
    newBooks: database.prepare(`${SELECT_BOOKS} where id > ? and id <= ? and ${HAS_EXACT_ID} order by id`),
    highestId: database.prepare('select coalesce(max(id), -1e300) as id from book_search'),
    remove: prepareWrite(database, 'delete from book_search where id = ?'),
    removeWords: prepareWrite(database, 'delete from book_words where rowid = ?'),
    removeTrigrams: prepareWrite(database, 'delete from book_trigrams where rowid = ?'),
    add: prepareWrite(database, ADD),
    addWords: prepareWrite(database, 'insert into book_words (rowid, words) values (?, ?)'),
    addTrigrams: prepareWrite(database, 'insert into book_trigrams (rowid, words) values (?, ?)'),
    isLarge: database.prepare('select 1 from book_search limit 1 offset ?'),
  };
}

/** Any write returns the last id inserted, also by FTS5, whose own ids can exceed a number. */
function prepareWrite(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql);
  statement.setReadBigInts(true);
  return statement;
}

/**
 * Brings the index up to date: at least one changed or new book, and more until the time is over.
 *
 * @returns whether none is left
 */
export function applyChanges(statements: Statements, state: IndexState, deadline: number): boolean {
  // Another program may have set an id from 7 to 1000, so this may be above `lastId`.
  const { id: highestId } = statements.highestId.get() as { id: number };
  return (
    applyLog(statements, state, highestId, deadline) && addNewBooks(statements, state, highestId, deadline)
  );
}

function applyLog(statements: Statements, state: IndexState, highestId: number, deadline: number): boolean {
  const { changes, book } = statements;
  const { lastId, newestId, newestChange, isComplete } = state;
  for (;;) {
    const rows = changes.all(state.lastChange) as { change: number; id: number }[];
    for (const { change, id } of rows) {
      if (change !== state.lastChange + 1) throw new UnfitIndex(MISSING);
      // The others are added as new books.
      if (id <= Math.max(lastId, highestId) || (isComplete && id > newestId)) {
        remove(statements, id);
        add(statements, book.get(id) as IndexedBook | undefined);
      }
      state.lastChange = change;
      if (performance.now() > deadline) return false;
    }
    if (rows.length < CHANGES_AT_ONCE) break;
  }
  if (state.lastChange !== newestChange) throw new UnfitIndex(MISSING);
  return true;
}

function addNewBooks(
  statements: Statements,
  state: IndexState,
  highestId: number,
  deadline: number,
): boolean {
  const { lastId, newestId, isComplete } = state;
  // Only updates set ids above the newest one, such as 1000 when it is 125. Once the index is complete, the log has them; while it
  // is built, it reads them after the others.
  const range = isComplete
    ? [lastId, newestId]
    : [lastId < newestId ? lastId : Math.max(lastId, highestId), Number.MAX_VALUE];
  for (const row of statements.newBooks.iterate(...range)) {
    const book = row as unknown as IndexedBook;
    if (book.id <= highestId) remove(statements, book.id);
    add(statements, book);
    state.lastId = Math.min(book.id, newestId);
    if (performance.now() > deadline) return false;
  }
  // The next inserts get higher ids, or are in the log.
  state.lastId = newestId;
  return true;
}

function remove(statements: Statements, id: number): void {
  statements.remove.run(id);
  statements.removeWords.run(id);
  statements.removeTrigrams.run(id);
}

function add(statements: Statements, book: IndexedBook | undefined): void {
  if (!book) return;
  const { id, year, bytes } = book;
  const { titleKey, authorKey, titleLower, authorLower, words } = foldBook(book);
  statements.add.run(id, titleKey, authorKey, year, bytes, titleLower, authorLower, words);
  statements.addWords.run(id, words);
  statements.addTrigrams.run(id, words);
}

/** Creates the indexes by which the books are sorted. @returns whether all exist */
export function createOrders(database: DatabaseSync, deadline: number): boolean {
  return ORDERS.every((order, index) => {
    database.exec(order);
    return index === ORDERS.length - 1 || performance.now() < deadline;
  });
}
