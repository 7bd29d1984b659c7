import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Book } from '../../book.ts';
import { lowerCase, wordsOf } from '../text.ts';
import { transact } from './connection.ts';
import { ADD } from './search-sql.ts';
import { BOOK } from './sql.ts';

/**
 * A table of our own beside the books. Triggers note which books have changed, for whoever writes them, in plain SQL
 * that never fails by itself; books with ids above all others need no note. Only the last notes are kept.
 */
const NOTES = `
  create table if not exists book_changes (note integer primary key autoincrement, id integer not null) strict;
  create trigger if not exists book_search_insert after insert on books
    when new.id <= (select seq from sqlite_sequence where name = 'books')
  begin
    insert into book_changes (id) values (new.id);
  end;
  create trigger if not exists book_search_update after update on books
  begin
    insert into book_changes (id) values (old.id);
    insert into book_changes (id) select new.id where new.id <> old.id;
  end;
  create trigger if not exists book_search_delete after delete on books
  begin
    insert into book_changes (id) values (old.id);
  end;
  create trigger if not exists book_search_forget after insert on book_changes
  begin
    delete from book_changes where note <= new.note - 100000;
  end;
`;

/**
 * The index. It is in a file of its own that has no name and goes with the connection: so making it keeps nobody from
 * writing, no crash can harm it, and a copy of the books needs no copy of it.
 */
const TABLES = `
  attach '' as search;
  pragma search.journal_mode = memory;
  pragma search.synchronous = off;
  pragma search.cache_size = -${16 * 1_024};
  create table search.book_search (
    id integer primary key,
    title_key text not null,
    author_key text not null,
    year integer not null,
    bytes integer not null,
    title_lower text not null,
    author_lower text not null,
    words text not null
  ) strict;
  create virtual table search.book_words using fts5 (
    words, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1'
  );
`;

/** They are quicker to make once the books are there than to keep up meanwhile. */
const INDEXES = [
  { name: 'title_up', key: 'title_key' },
  { name: 'title_down', key: 'title_key desc' },
  { name: 'author_up', key: 'author_key' },
  { name: 'author_down', key: 'author_key desc' },
  { name: 'year_up', key: 'year' },
  { name: 'year_down', key: 'year desc' },
];

/** How long the index is worked on before those who search have their turn. */
const STEP_MS_MAX = 20;

/** How many books are taken in before the clock is looked at. */
const BOOKS_PER_LOOK = 50;

/** How many steps a search waits for; then it goes without the index. */
const STEPS_PER_SEARCH_MAX = 5;

/** The index of the books in a SQLite file, for one connection. */
export class SearchIndex {
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  #indexesToMake = [...INDEXES];
  /** What has been taken in: all books up to this id, as they were after this note. */
  #lastId = -Number.MAX_VALUE;
  #lastNote: number;
  /** A step has failed, so that this may not be so. */
  #isBroken = false;
  #goingOn: NodeJS.Immediate | undefined;

  private constructor(database: DatabaseSync) {
    this.#database = database;
    // An attempt that failed may have left some of it.
    if (database.prepare("select 1 from pragma_database_list where name = 'search'").get())
      database.exec('detach search');
    database.exec(TABLES);
    this.#statements = prepare(database);
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
    for (let step = 0; step < STEPS_PER_SEARCH_MAX; step++) {
      if (this.#step()) return true;
    }
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
      } catch {
        // The next search tries again.
      }
    });
  }

  /** Takes in some of what is new. @returns whether that was all of it */
  #step(): boolean {
    const deadline = performance.now() + STEP_MS_MAX;
    this.#database.exec('begin');
    try {
      if (this.#isBroken || this.#hasForgotten()) this.#startAgain();
      let isAll = false;
      do {
        const isTaken = this.#takeChanges() && this.#takeNewBooks();
        const index = isTaken ? this.#indexesToMake[0] : undefined;
        if (index) this.#database.exec(`create index search.${index.name} on book_search (${index.key})`);
        isAll = isTaken && this.#indexesToMake.shift() === undefined;
      } while (!isAll && performance.now() < deadline);
      this.#database.exec('commit');
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
    this.#indexesToMake = [...INDEXES];
    for (const { name } of INDEXES) this.#database.exec(`drop index if exists search.${name}`);
    this.#database.exec("delete from book_search; insert into book_words (book_words) values ('delete-all')");
    this.#isBroken = false;
    this.#lastId = -Number.MAX_VALUE;
    this.#lastNote = this.#newestNote();
  }

  #newestNote(): number {
    return (this.#statements.newestNote.get() as { newest: number }).newest;
  }

  /** @returns whether these were all */
  #takeChanges(): boolean {
    const { changes, remove, removeWords, book } = this.#statements;
    const noted = changes.all(this.#lastNote) as { note: number; id: number }[];
    for (const { id } of noted) {
      // The others are yet to come.
      if (id > this.#lastId) continue;
      remove.run(id);
      removeWords.run(id);
      const changed = book.get(id) as Book | undefined;
      if (changed) this.#add(changed);
    }
    this.#lastNote = noted.at(-1)?.note ?? this.#lastNote;
    return noted.length < BOOKS_PER_LOOK;
  }

  /** @returns whether these were all */
  #takeNewBooks(): boolean {
    let count = 0;
    for (const book of this.#statements.newBooks.iterate(this.#lastId)) {
      this.#add(book as unknown as Book);
      this.#lastId = Number(book.id);
      count++;
    }
    return count < BOOKS_PER_LOOK;
  }

  #add({ id, title, author, year }: Book): void {
    const { add, addWords } = this.#statements;
    const words = wordsOf(title, author);
    add.run(id, title, author, year, lowerCase(title), lowerCase(author), words);
    addWords.run(id, words);
  }
}

type Statements = ReturnType<typeof prepare>;

function prepare(database: DatabaseSync) {
  return {
    oldestNote: database.prepare('select min(note) as oldest from book_changes'),
    newestNote: database.prepare(
      "select coalesce((select seq from sqlite_sequence where name = 'book_changes'), 0) as newest",
    ),
    changes: database.prepare(
      `select note, id from book_changes where note > ? order by note limit ${BOOKS_PER_LOOK}`,
    ),
    book: database.prepare(`select ${BOOK} from books where id = ?`),
    newBooks: database.prepare(`select ${BOOK} from books where id > ? order by id limit ${BOOKS_PER_LOOK}`),
    remove: database.prepare('delete from book_search where id = ?'),
    removeWords: database.prepare('delete from book_words where rowid = ?'),
    add: database.prepare(ADD),
    addWords: database.prepare('insert into book_words (rowid, words) values (?, ?)'),
  } satisfies Record<string, StatementSync>;
}
