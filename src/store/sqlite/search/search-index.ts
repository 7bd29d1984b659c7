import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Book } from '../../../book/book.ts';
import { foldBook } from '../../search/folding.ts';
import { transact } from '../files/connection.ts';
import { BOOK_COLUMNS, SELECT } from '../sql.ts';
import { ADD, CHANGE_LOG, INDEX } from './search-schema.ts';
import { indexedWordsOf } from './trigrams.ts';

/** The longest step, which blocks searches. */
const STEP_MS_MAX = 20;
const CHANGES_AT_ONCE = 50;
/** The time in which a search updates the index; after it, the search runs without the index. */
const SEARCH_WAITS_MS = 100;

/** The index of the books in a SQLite file, for one connection. */
export class SearchIndex {
  readonly #database: DatabaseSync;
  #statements: Statements;
  /** The index has all books up to this id, as they were after this change. */
  #lastId = -Number.MAX_VALUE;
  #lastChange: number;
  /** The highest id in the index, which may be above `#lastId`: updates may set any id. */
  #highestId = -Number.MAX_VALUE;
  #isBroken = false;
  #nextStep: NodeJS.Immediate | undefined;
  /** The error of a background step, which the next search throws. */
  #failure: unknown;

  private constructor(database: DatabaseSync) {
    this.#database = database;
    this.#statements = createIndex(database);
    this.#lastChange = this.#newestChange();
  }

  static async open(database: DatabaseSync): Promise<SearchIndex> {
    const hasLog = database
      .prepare("select 1 from sqlite_schema where name in ('book_search_forget', 'book_history_insert')")
      .get();
    if (!hasLog) await transact(database, () => database.exec(CHANGE_LOG));
    return new SearchIndex(database);
  }

  /** Updates the index; an update that takes too long continues in the background. @returns whether it is up to date */
  catchUp(): boolean {
    if (this.#nextStep) return false;
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
    const deadline = performance.now() + SEARCH_WAITS_MS;
    do {
      if (this.#step()) return true;
    } while (performance.now() < deadline);
    this.#continueInBackground();
    return false;
  }

  close(): void {
    clearImmediate(this.#nextStep);
  }

  #continueInBackground(): void {
    this.#nextStep = setImmediate(() => {
      this.#nextStep = undefined;
      try {
        if (!this.#step()) this.#continueInBackground();
      } catch (error) {
        this.#failure = error;
      }
    });
  }

  /** Indexes at least one changed or new book, and more until the time is over. @returns whether none is left */
  #step(): boolean {
    const deadline = performance.now() + STEP_MS_MAX;
    this.#database.exec('begin');
    try {
      const isUsable = !this.#isBroken && !this.#hasMissedChanges();
      const isDone = isUsable && this.#applyChanges(deadline) && this.#addNewBooks(deadline);
      this.#database.exec('commit');
      if (!isUsable) this.#rebuild();
      return isDone;
    } catch (error) {
      this.#isBroken = true;
      if (this.#database.isTransaction) this.#database.exec('rollback');
      throw error;
    }
  }

  #hasMissedChanges(): boolean {
    const { oldest } = this.#statements.oldestChange.get() as { oldest: number | null };
    return oldest !== null && oldest > this.#lastChange + 1;
  }

  #rebuild(): void {
    this.#statements = createIndex(this.#database);
    this.#isBroken = false;
    this.#lastId = -Number.MAX_VALUE;
    this.#highestId = -Number.MAX_VALUE;
    this.#lastChange = this.#newestChange();
  }

  #newestChange(): number {
    return (this.#statements.newestChange.get() as { newest: number }).newest;
  }

  /** @returns whether no change is left */
  #applyChanges(deadline: number): boolean {
    const { changes, book } = this.#statements;
    for (;;) {
      const rows = changes.all(this.#lastChange) as { change: number; id: number }[];
      for (const { change, id } of rows) {
        // Books with higher ids are added as new books.
        if (id <= this.#highestId) this.#replace(id, book.get(id) as Book | undefined);
        this.#lastChange = change;
        if (performance.now() > deadline) return false;
      }
      if (rows.length < CHANGES_AT_ONCE) return true;
    }
  }

  /** @returns whether no new book is left */
  #addNewBooks(deadline: number): boolean {
    const { newBooks, lastInserted } = this.#statements;
    for (const book of newBooks.iterate(this.#lastId)) {
      const id = Number(book.id);
      this.#replace(id, book as unknown as Book);
      this.#lastId = id;
      this.#highestId = Math.max(this.#highestId, id);
      if (performance.now() > deadline) return false;
    }
    // The next inserts get ids from here on, and the log does not have them.
    const { last } = lastInserted.get() as { last: number | null };
    this.#lastId = Math.min(this.#lastId, last ?? this.#lastId);
    return true;
  }

  /** Replaces a book in the index. @param book undefined if it was deleted */
  #replace(id: number, book: Book | undefined): void {
    const { remove, removeWords, add, addWords } = this.#statements;
    if (id <= this.#highestId) {
      remove.run(id);
      removeWords.run(id);
    }
    if (!book) return;
    const { title, author, year } = book;
    const { titleKey, authorKey, titleLower, authorLower, words } = foldBook(book);
    const bytes = Buffer.byteLength(title) + Buffer.byteLength(author);
    add.run(id, titleKey, authorKey, year, bytes, titleLower, authorLower, words);
    addWords.run(id, indexedWordsOf(words));
  }
}

type Statements = ReturnType<typeof prepareStatements>;

function createIndex(database: DatabaseSync): Statements {
  if (database.prepare("select 1 from pragma_database_list where name = 'search'").get())
    database.exec('detach search');
  database.exec(INDEX);
  return prepareStatements(database);
}

function prepareStatements(database: DatabaseSync) {
  return {
    oldestChange: database.prepare('select min(note) as oldest from book_changes'),
    newestChange: database.prepare(
      "select coalesce((select seq from sqlite_sequence where name = 'book_changes'), 0) as newest",
    ),
    changes: database.prepare(
      `select note as change, id from book_changes where note > ? order by note limit ${CHANGES_AT_ONCE}`,
    ),
    book: database.prepare(SELECT),
    newBooks: database.prepare(`select ${BOOK_COLUMNS} from books where id > ? order by id`),
    lastInserted: database.prepare("select max(seq) as last from sqlite_sequence where name = 'books'"),
    remove: prepareWrite(database, 'delete from book_search where id = ?'),
    removeWords: prepareWrite(database, 'delete from book_words where rowid = ?'),
    add: prepareWrite(database, ADD),
    addWords: prepareWrite(database, 'insert into book_words (rowid, words) values (?, ?)'),
  };
}

/** A write returns the last id inserted, also by FTS5, whose own ids can exceed a number. */
function prepareWrite(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql);
  statement.setReadBigInts(true);
  return statement;
}
