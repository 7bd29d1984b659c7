import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Book } from '../../book/book.ts';
import { faultOfFollower, type LogPosition } from '../../changes/log-position.ts';
import {
  defineChangeLog,
  hasChangeLog,
  type PlaceRow,
  SELECT_LAST,
  selectPlace,
  toPlace,
} from '../../changes/sqlite/change-log.ts';
import { prepareOnce } from '../../changes/sqlite/prepared.ts';
import { BOOK_COLUMNS, exact, HAS_EXACT_ID, TEXT_BYTES } from '../../store/sqlite/book-columns.ts';
import { isBusy, isDamaged, isStatementFailure } from '../../store/sqlite/errors.ts';
import { takeOverCheckpoints, transact } from '../../store/sqlite/files/connection.ts';
import { isInSchema } from '../../store/sqlite/migrations.ts';
import type { BookKeys } from '../blocks.ts';
import { COMPARED_LENGTH, foldBook } from '../folding.ts';
import type { Progress } from '../index-wait.ts';
import { storedTextsOf } from '../stored-texts.ts';
import { IndexFile } from './index-file.ts';
import { Positions } from './positions.ts';
import {
  DROP_ORDERS,
  DROP_TABLES,
  hasAllTables,
  type IndexState,
  ORDERS,
  percentOf,
  SELECT_STATE,
  SELECT_VERSION,
  TABLES,
  VERSION,
} from './schema.ts';
import { indexedWordsOf } from './trigrams.ts';

/** The longest step: other processes, and the end of this one, wait for it. */
const STEP_MS = 200;
/** The changes that are read at a time; of a book that has changed several times, the last state is folded. */
const CHANGES_AT_ONCE = 500;
/** Less memory for the pages of the index takes twice the time for searches among a million books. */
const CACHE_KIB = 64 * 1_024;
/** The shortest time until a damaged index is deleted again, as the disk or the books may be the cause. */
const DELETION_MS_MIN = 60_000;

/**
 * Keeps the index up to date, in steps: a follower of the log of changes whose cursor is in the index. If the log does not have the
 * change of the cursor any more, or not in this form, the index is emptied and built anew; it has no other memory of the store.
 *
 * Several processes may do so for one file: a step holds the lock of its writers, and begins with the state that the last one left.
 */
export class IndexUpdater {
  readonly #store: DatabaseSync;
  readonly #ofStore: ReturnType<typeof prepareStore>;
  #file: IndexFile | undefined;
  #ofIndex: ReturnType<typeof prepareIndex> | undefined;
  #deletedAt = -DELETION_MS_MIN;
  /** The positions that a step keeps up to date; undefined while none are built. */
  #counted: Positions | undefined;

  /** @param store a connection of its own, with a log of changes */
  private constructor(store: DatabaseSync) {
    this.#store = store;
    this.#ofStore = prepareStore(store);
  }

  /** Begins a log of ids if the store has no log. */
  static async open(store: DatabaseSync): Promise<IndexUpdater> {
    if (!hasChangeLog(store))
      await transact(store, () => {
        // Another process may have begun one meanwhile.
        if (!hasChangeLog(store)) defineChangeLog(store, undefined);
      });
    return new IndexUpdater(store);
  }

  /** Whether the index was complete after the last step of any process. */
  get isBuilt(): boolean {
    return this.#file !== undefined && !this.#file.isReplaced && this.#readState()?.isComplete === 1;
  }

  /** The index, after a step. */
  get database(): DatabaseSync {
    return (this.#file as IndexFile).database;
  }

  /**
   * Begins transactions on the store and on the index if these are of one moment, perhaps after a step.
   *
   * @throws UnusableIndex, or errors of SQLite
   */
  begin(): Progress {
    return this.#report(() => {
      this.#open();
      this.#store.exec('begin');
      if (this.#beginIfCurrent()) return CURRENT;
      this.end();
      const progress = this.#step();
      // Another process may have begun the next step meanwhile.
      if (progress.isCurrent && this.#beginIfCurrent()) return CURRENT;
      this.end();
      return { isCurrent: false, percent: this.#readPercent() };
    });
  }

  #beginIfCurrent(): boolean {
    this.database.exec('begin');
    return this.#isCurrent();
  }

  /** Ends the transactions. */
  end(): void {
    for (const database of [this.#store, this.#file?.database])
      if (database?.isOpen && database.isTransaction) database.exec('rollback');
  }

  /**
   * Deletes the index if an error shows that it is damaged, unless it did so soon before: the file is corrupt, or a statement fails because
   * another program has dropped or altered the tables. If the tables are as they were created, the statement is wrong, which a new index
   * would not mend.
   *
   * @throws the error otherwise
   */
  deleteIfDamaged(error: unknown): Progress {
    const isAltered = () => this.#file !== undefined && !hasAllTables(this.database);
    if (!isDamaged(error) && !(isStatementFailure(error) && isAltered())) throw error;
    if (performance.now() < this.#deletedAt + DELETION_MS_MIN) throw error;
    this.#deletedAt = performance.now();
    if (this.#file) this.#file.delete();
    else IndexFile.deleteUnopened(this.#store);
    this.close();
    return { isCurrent: false, percent: 0, wasDamaged: true };
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#ofIndex = undefined;
  }

  #report(run: () => Progress): Progress {
    try {
      return run();
    } catch (error) {
      this.end();
      if (isBusy(error)) return { isCurrent: false, percent: this.#readPercent() };
      return this.deleteIfDamaged(error);
    }
  }

  /** The transaction on the store goes on. */
  #step(): Progress {
    const { database } = this.#open();
    database.exec('begin immediate');
    // After the lock, so that the snapshot is not before the one of another process's last step.
    this.#store.exec('begin');
    try {
      if (this.#isCurrent()) return CURRENT;
      let state = this.#readState();
      const last = this.#ofStore.last.get() as unknown as LogPosition;
      if (!state || !this.#canFollow(database, state, last)) state = this.#empty(database, last);
      const isCurrent = this.#advance(database, state, last, performance.now() + STEP_MS);
      const { position, nonce, isComplete, builtTo, done, total } = state;
      this.#statements.save.run(position, nonce, isComplete, builtTo, done, total);
      database.exec('commit');
      this.#statements.checkpoint();
      return isCurrent ? CURRENT : { isCurrent, percent: percentOf(state) };
    } finally {
      if (database.isTransaction) database.exec('rollback');
    }
  }

  #open(): IndexFile {
    if (this.#file?.isReplaced) this.close();
    this.#file ??= IndexFile.open(this.#store, CACHE_KIB);
    return this.#file;
  }

  get #statements(): ReturnType<typeof prepareIndex> {
    this.#ofIndex ??= prepareIndex((this.#file as IndexFile).database);
    return this.#ofIndex;
  }

  /** Whether the index has the last change of the log. */
  #isCurrent(): boolean {
    const state = this.#readState();
    const last = this.#ofStore.last.get() as unknown as LogPosition;
    return state?.isComplete === 1 && state.position === last.position && state.nonce === last.nonce;
  }

  /** @returns undefined when the index is new, or of another version */
  #readState(): IndexState | undefined {
    if (!isInSchema(this.database, 'state')) return undefined;
    // The other statements cannot be prepared for the tables of another version.
    if (prepareOnce(this.database, SELECT_VERSION).get()?.version !== VERSION) return undefined;
    return this.#statements.state.get() as unknown as IndexState;
  }

  #readPercent(): number {
    try {
      return percentOf(this.#statements.state.get() as unknown as IndexState);
    } catch {
      return 0;
    }
  }

  #canFollow(database: DatabaseSync, state: IndexState, last: LogPosition): boolean {
    const row = this.#ofStore.place.get(state.position) as unknown as PlaceRow;
    if (faultOfFollower(state, toPlace(row)) !== undefined) return false;
    const backlog = last.position - state.position;
    if (backlog < MANY_CHANGES) return true;
    // About as many as there are books, as ids ascend; counting them takes long.
    const { highest: books } = this.#statements.highest.get() as { highest: number };
    // As many changes as books cost more than building anew.
    if (state.isComplete && backlog > 2 * books) return false;
    // With the orders in place, a change costs several times as much as without; they are created again at the end.
    if (backlog > books * MANY_PART) dropOrders(database, state);
    return true;
  }

  /** Empties the index, which has nothing of the books after a change. */
  #empty(database: DatabaseSync, { position, nonce }: LogPosition): IndexState {
    this.#ofIndex = undefined;
    database.exec(`${DROP_TABLES} ${TABLES}`);
    const { books } = this.#ofStore.size.get() as { books: number };
    const state = {
      position,
      nonce,
      isComplete: 0,
      builtTo: FIRST,
      done: 0,
      total: books,
      orders: 0,
    };
    database
      .prepare('insert into state values (?, ?, ?, 0, ?, 0, ?)')
      .run(VERSION, position, nonce, FIRST, books);
    return state;
  }

  /** @returns whether the index is complete: it then has all books of the snapshot */
  #advance(database: DatabaseSync, state: IndexState, last: LogPosition, deadline: number): boolean {
    if (state.isComplete) state.done = 0;
    // Meanwhile, others may have followed.
    if (state.builtTo === null) state.total = state.done + last.position - state.position;
    state.isComplete = 0;
    const positions = new Positions(database);
    this.#counted = positions.areBegun ? positions : undefined;
    const hasAll = this.#apply(state, last, deadline) && this.#build(state, deadline);
    // Those that are built from here on count these changes.
    this.#counted?.flush();
    if (!hasAll) return false;
    for (const [index, order] of ORDERS.entries()) {
      if (performance.now() > deadline) return false;
      database.exec(order);
      state.orders = index + 1;
    }
    if (!positions.build(deadline)) return false;
    state.isComplete = 1;
    return true;
  }

  /** Applies the changes after the cursor. @returns whether none is left */
  #apply(state: IndexState, last: LogPosition, deadline: number): boolean {
    let { highest } = this.#statements.highest.get() as { highest: number };
    while (state.position !== last.position) {
      if (performance.now() > deadline) return false;
      const changes = this.#ofStore.changes.all(state.position) as unknown as (LogPosition & {
        id: number;
      })[];
      // In their order, as FTS5 writes what it has gathered before it takes a lower id. An undo has them from the highest down.
      const ids = [...new Set(changes.map((change) => change.id))].toSorted((one, other) => one - other);
      for (const id of ids) {
        // The books of higher ids are still to be read.
        if (state.builtTo !== null && id > state.builtTo) continue;
        if (id <= highest) this.#remove(id);
        const book = this.#ofStore.book.get(id) as unknown as StoredBook | undefined;
        if (book) this.#add(book);
        highest = Math.max(highest, id);
      }
      const { position, nonce } = changes.at(-1) ?? last;
      if (state.builtTo === null) state.done += position - state.position;
      Object.assign(state, { position, nonce });
    }
    return true;
  }

  /** Adds the books that are still to be read. @returns whether none is left */
  #build(state: IndexState, deadline: number): boolean {
    if (state.builtTo === null) return true;
    for (const row of this.#ofStore.booksAfter.iterate(state.builtTo)) {
      const book = row as unknown as StoredBook;
      this.#add(book);
      state.builtTo = book.id;
      state.done++;
      if (performance.now() > deadline) return false;
    }
    state.builtTo = null;
    return true;
  }

  #remove(id: number): void {
    const { remove, removeWords, removeTrigrams } = this.#statements;
    const removed = remove.get(id) as BookKeys | undefined;
    if (removed) this.#counted?.remove(removed);
    for (const statement of [removeWords, removeTrigrams]) statement.run(id);
  }

  #add(book: StoredBook): void {
    const { id, title, author, year, bytes } = book;
    const compared = { title: comparedPart(title), author: comparedPart(author) };
    const folded = foldBook(compared);
    const { titleLower, authorLower, words } = storedTextsOf(compared, folded);
    const { add, addWords, addTrigrams } = this.#statements;
    add.run(
      id,
      folded.titleKey,
      folded.authorKey,
      folded.twinKey,
      year,
      bytes,
      titleLower,
      authorLower,
      words,
    );
    addWords.run(id, indexedWordsOf(folded.words));
    addTrigrams.run(id, folded.words);
    this.#counted?.add({ id, title_key: folded.titleKey, author_key: folded.authorKey, year });
  }
}

export const CURRENT: Progress = { isCurrent: true, percent: 100 };
/** Before all ids. */
const FIRST = -Number.MAX_VALUE;
/** From this number of changes, and this part of the books in the index, on, they are many. */
const MANY_CHANGES = 2_000;
const MANY_PART = 0.05;

function dropOrders(database: DatabaseSync, state: IndexState): void {
  for (const drop of DROP_ORDERS) database.exec(drop);
  new Positions(database).clear();
  state.orders = 0;
}

interface StoredBook extends Book {
  readonly bytes: number;
}

const SELECT_BOOKS = `
  select ${BOOK_COLUMNS}, ${TEXT_BYTES} as bytes from books`;

function prepareStore(store: DatabaseSync) {
  return {
    last: store.prepare(SELECT_LAST),
    place: store.prepare(selectPlace('?')),
    changes: store.prepare(
      `select note as position, nonce, ${exact('id')} as id from book_changes where note > ? order by note limit ${CHANGES_AT_ONCE}`,
    ),
    book: store.prepare(`${SELECT_BOOKS} where id = ?`),
    booksAfter: store.prepare(`${SELECT_BOOKS} where id > ? and ${HAS_EXACT_ID} order by id`),
    size: store.prepare('select count(*) as books from books'),
  };
}

function prepareIndex(index: DatabaseSync) {
  return {
    state: index.prepare(SELECT_STATE),
    save: prepareWrite(
      index,
      'update state set position = ?, nonce = ?, is_complete = ?, built_to = ?, done = ?, total = ?',
    ),
    highest: index.prepare(`select coalesce(max(id), ${FIRST}) as highest from book_search`),
    remove: index.prepare('delete from book_search where id = ? returning id, title_key, author_key, year'),
    removeWords: prepareWrite(index, 'delete from book_words where rowid = ?'),
    removeTrigrams: prepareWrite(index, 'delete from book_trigrams where rowid = ?'),
    add: prepareWrite(index, 'insert into book_search values (?, ?, ?, ?, ?, ?, ?, ?, ?)'),
    addWords: prepareWrite(index, 'insert into book_words (rowid, words) values (?, ?)'),
    addTrigrams: prepareWrite(index, 'insert into book_trigrams (rowid, words) values (?, ?)'),
    checkpoint: takeOverCheckpoints(index),
  };
}

/** Any write returns the last id inserted, also by FTS5, whose own ids can exceed a number. */
function prepareWrite(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql);
  statement.setReadBigInts(true);
  return statement;
}

function comparedPart(text: string): string {
  if (text.length <= COMPARED_LENGTH) return text;
  return Array.from(text).slice(0, COMPARED_LENGTH).join('');
}
