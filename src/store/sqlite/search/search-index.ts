import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Book } from '../../../book/book.ts';
import { lowerCase, wordsOf } from '../../search/folding.ts';
import { transact } from '../files/connection.ts';
import { BOOK } from '../sql.ts';
import { ADD, NOTES, TABLES } from './search-schema.ts';
import { indexedWordsOf } from './trigrams.ts';

/** How long the index is worked on before those who search have their turn. */
const STEP_MS_MAX = 20;

/** How many notes of changes are read at once. */
const NOTES_AT_ONCE = 50;

/** After this a search waits for no further step; it goes without the index. */
const SEARCH_WAITS_MS = 100;

/** The index of the books in a SQLite file, for one connection. */
export class SearchIndex {
  readonly #database: DatabaseSync;
  #statements: Statements;
  /** What has been taken in: all books up to this id, as they were after this note. */
  #lastId = -Number.MAX_VALUE;
  #lastNote: number;
  /** The highest id that has been taken in: others may move books beyond the ids that inserts have reached. */
  #highestId = -Number.MAX_VALUE;
  /** A step has failed, so that this may not be so. */
  #isBroken = false;
  #goingOn: NodeJS.Immediate | undefined;
  /** What ended the steps that nobody waited for; the next search throws it, and the one after that tries again. */
  #failure: unknown;

  private constructor(database: DatabaseSync) {
    this.#database = database;
    this.#statements = prepareAnew(database);
    this.#lastNote = this.#newestNote();
  }

  /** Makes an index, which is empty yet. */
  static async open(database: DatabaseSync): Promise<SearchIndex> {
    const isNoted = database.prepare("select 1 from sqlite_schema where name = 'book_search_forget'").get();
    if (!isNoted) await transact(database, () => database.exec(NOTES));
    return new SearchIndex(database);
  }

  /**
   * Takes in what has been written so far. When that is too much for one search, the rest follows bit by bit.
   *
   * @returns whether the index has every book as it was when this was called, or later
   * @throws when it cannot be kept up; the next call tries again
   */
  catchUp(): boolean {
    if (this.#goingOn) return false;
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
    const deadline = performance.now() + SEARCH_WAITS_MS;
    do {
      if (this.#step()) return true;
    } while (performance.now() < deadline);
    this.#goOn();
    return false;
  }

  close(): void {
    clearImmediate(this.#goingOn);
  }

  #goOn(): void {
    this.#goingOn = setImmediate(() => {
      this.#goingOn = undefined;
      try {
        if (!this.#step()) this.#goOn();
      } catch (error) {
        this.#failure = error;
      }
    });
  }

  /** Takes in some of what is new: at least one book, and no more when the time is up. @returns whether that was all of it */
  #step(): boolean {
    const deadline = performance.now() + STEP_MS_MAX;
    this.#database.exec('begin');
    try {
      const isUsable = !this.#isBroken && !this.#hasForgotten();
      const isAll = isUsable && this.#takeChanges(deadline) && this.#takeNewBooks(deadline);
      this.#database.exec('commit');
      if (!isUsable) this.#startAgain();
      return isAll;
    } catch (error) {
      this.#isBroken = true;
      if (this.#database.isTransaction) this.#database.exec('rollback');
      throw error;
    }
  }

  /** Whether there were more changes than notes are kept. */
  #hasForgotten(): boolean {
    const { oldest } = this.#statements.oldestNote.get() as { oldest: number | null };
    return oldest !== null && oldest > this.#lastNote + 1;
  }

  #startAgain(): void {
    this.#statements = prepareAnew(this.#database);
    this.#isBroken = false;
    this.#lastId = -Number.MAX_VALUE;
    this.#highestId = -Number.MAX_VALUE;
    this.#lastNote = this.#newestNote();
  }

  #newestNote(): number {
    return (this.#statements.newestNote.get() as { newest: number }).newest;
  }

  /** @returns whether these were all */
  #takeChanges(deadline: number): boolean {
    const { changes, remove, removeWords, book } = this.#statements;
    for (;;) {
      const noted = changes.all(this.#lastNote) as { note: number; id: number }[];
      for (const { note, id } of noted) {
        // The others are yet to come.
        if (id <= this.#highestId) {
          remove.run(id);
          removeWords.run(id);
          const changed = book.get(id) as Book | undefined;
          if (changed) this.#add(changed);
        }
        this.#lastNote = note;
        if (performance.now() > deadline) return false;
      }
      if (noted.length < NOTES_AT_ONCE) return true;
    }
  }

  /** @returns whether these were all */
  #takeNewBooks(deadline: number): boolean {
    const { newBooks, remove, removeWords, lastInserted } = this.#statements;
    for (const book of newBooks.iterate(this.#lastId)) {
      const id = Number(book.id);
      if (id <= this.#highestId) {
        remove.run(id);
        removeWords.run(id);
      }
      this.#add(book as unknown as Book);
      this.#lastId = id;
      this.#highestId = Math.max(this.#highestId, id);
      if (performance.now() > deadline) return false;
    }
    // The next inserts go on there, without a note.
    const { last } = lastInserted.get() as { last: number | null };
    this.#lastId = Math.min(this.#lastId, last ?? this.#lastId);
    return true;
  }

  #add({ id, title, author, year }: Book): void {
    const { add, addWords } = this.#statements;
    const words = wordsOf(title, author);
    add.run(id, title, author, year, lowerCase(title), lowerCase(author), words);
    addWords.run(id, indexedWordsOf(words));
  }
}

type Statements = ReturnType<typeof prepare>;

/** Makes an index that is empty, in the place of the one that there may be. */
function prepareAnew(database: DatabaseSync): Statements {
  if (database.prepare("select 1 from pragma_database_list where name = 'search'").get())
    database.exec('detach search');
  database.exec(TABLES);
  return prepare(database);
}

function prepare(database: DatabaseSync) {
  return {
    oldestNote: database.prepare('select min(note) as oldest from book_changes'),
    newestNote: database.prepare(
      "select coalesce((select seq from sqlite_sequence where name = 'book_changes'), 0) as newest",
    ),
    changes: database.prepare(
      `select note, id from book_changes where note > ? order by note limit ${NOTES_AT_ONCE}`,
    ),
    book: database.prepare(`select ${BOOK} from books where id = ?`),
    newBooks: database.prepare(`select ${BOOK} from books where id > ? order by id`),
    lastInserted: database.prepare("select max(seq) as last from sqlite_sequence where name = 'books'"),
    remove: prepareWrite(database, 'delete from book_search where id = ?'),
    removeWords: prepareWrite(database, 'delete from book_words where rowid = ?'),
    add: prepareWrite(database, ADD),
    addWords: prepareWrite(database, 'insert into book_words (rowid, words) values (?, ?)'),
  } satisfies Record<string, StatementSync>;
}

/** FTS5 inserts rows of its own with ids beyond what a number can be; a write returns the last one, whatever it inserted. */
function prepareWrite(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql);
  statement.setReadBigInts(true);
  return statement;
}
