import type { DatabaseSync } from 'node:sqlite';
import type { Book } from '../../book/contract.ts';
import { faultOfFollower, type LogPosition } from '../../changes/log-position.ts';
import { type PlaceRow, SELECT_LAST, selectPlace, toPlace } from '../../changes/sqlite/change-log.ts';
import { prepareOnce } from '../../changes/sqlite/prepared.ts';
import { BOOK_COLUMNS, exact, HAS_EXACT_ID, TEXT_BYTES } from '../../store/sqlite/book-columns.ts';
import type { BookKeys } from '../blocks.ts';
import { COMPARED_LENGTH, foldBook } from '../folding.ts';
import { storedTextsOf } from '../stored-texts.ts';
import { Positions } from './positions.ts';
import {
  DROP_ORDERS,
  DROP_TABLES,
  INSERT_STATE,
  type IndexState,
  ORDERS,
  SAVE_STATE,
  TABLES,
  VERSION,
} from './schema.ts';
import { indexedWordsOf } from './trigrams.ts';

/** The changes that are read at a time; of a book that has changed several times, the last state is folded. */
const CHANGES_AT_ONCE = 500;
/** From this number of changes, and this part of the books in the index, on, they are many. */
const MANY_CHANGES = 2_000;
const MANY_PART = 0.05;
/** Before all ids. */
const FIRST = -Number.MAX_VALUE;

/**
 * Applies changes of the books to the index, up to the last one of a snapshot of the store or until the time is over. An index that is new,
 * of another version, or cannot follow the log is emptied and built anew.
 *
 * @param store in a transaction
 * @param index in a write transaction
 * @param state that of the index; undefined if it is new, or of another version
 * @returns its new state, which is saved in the transaction: so it commits with the books that the index has
 */
export function applyChanges(
  store: DatabaseSync,
  index: DatabaseSync,
  state: IndexState | undefined,
  ms: number,
): IndexState {
  return new Step(store, index, performance.now() + ms).run(state);
}

class Step {
  readonly #store: DatabaseSync;
  readonly #index: DatabaseSync;
  readonly #deadline: number;
  /** The last change of the snapshot. */
  readonly #last: LogPosition;
  readonly #positions: Positions;
  /** The positions, if some are built, which are kept up to date. */
  #counted: Positions | undefined;

  constructor(store: DatabaseSync, index: DatabaseSync, deadline: number) {
    this.#store = store;
    this.#index = index;
    this.#deadline = deadline;
    this.#last = prepareOnce(store, SELECT_LAST).get() as unknown as LogPosition;
    this.#positions = new Positions(index);
  }

  run(before: IndexState | undefined): IndexState {
    const state = before && this.#canFollow(before) ? before : this.#empty();
    if (state.isComplete) state.done = 0;
    // Meanwhile, others may have followed.
    if (state.builtTo === null) state.total = state.done + this.#last.position - state.position;
    state.isComplete = Number(this.#advance(state));
    const { position, nonce, isComplete, builtTo, done, total } = state;
    this.#writeIndex(SAVE_STATE, position, nonce, isComplete, builtTo, done, total);
    return state;
  }

  get #isOver(): boolean {
    return performance.now() > this.#deadline;
  }

  #canFollow(state: IndexState): boolean {
    const row = prepareOnce(this.#store, SELECT_PLACE).get(state.position) as unknown as PlaceRow;
    if (faultOfFollower(state, toPlace(row)) !== undefined) return false;
    const backlog = this.#last.position - state.position;
    if (backlog < MANY_CHANGES) return true;
    // The books of the index are at most as many as the ids from the lowest to the highest one; counting them takes long.
    const { books } = prepareOnce(this.#index, SELECT_BOOKS_MAX).get() as { books: number };
    // As many changes as books cost more than building anew.
    if (state.isComplete && backlog > 2 * books) return false;
    // With the orders in place, a change costs several times as much as without; they are created again at the end.
    if (backlog > books * MANY_PART) this.#dropOrders(state);
    return true;
  }

  #dropOrders(state: IndexState): void {
    for (const drop of DROP_ORDERS) this.#index.exec(drop);
    this.#positions.clear();
    state.orders = 0;
  }

  /** Empties the index, which has nothing of the books after a change. */
  #empty(): IndexState {
    this.#index.exec(`${DROP_TABLES} ${TABLES}`);
    const { books: total } = prepareOnce(this.#store, COUNT_BOOKS).get() as { books: number };
    const { position, nonce } = this.#last;
    this.#writeIndex(INSERT_STATE, VERSION, position, nonce, FIRST, total);
    return { position, nonce, isComplete: 0, builtTo: FIRST, done: 0, total, orders: 0 };
  }

  /** @returns whether the index is complete: it then has all books of the snapshot */
  #advance(state: IndexState): boolean {
    this.#counted = this.#positions.areBegun ? this.#positions : undefined;
    const hasAll = this.#apply(state) && this.#build(state);
    // Those that are built from here on count these changes.
    this.#counted?.flush();
    return hasAll && this.#createOrders(state) && this.#positions.build(this.#deadline);
  }

  /** Applies the changes after the cursor. @returns whether none is left */
  #apply(state: IndexState): boolean {
    let highest = this.#readHighest();
    while (state.position !== this.#last.position) {
      if (this.#isOver) return false;
      const rows = prepareOnce(this.#store, SELECT_CHANGES).all(state.position);
      const changes = rows as unknown as (LogPosition & { id: number })[];
      // In their order, as FTS5 writes what it has gathered before it takes a lower id. An undo has them from the highest down.
      const ids = [...new Set(changes.map((change) => change.id))].toSorted((one, other) => one - other);
      for (const id of ids) {
        // The books of higher ids are still to be read.
        if (state.builtTo !== null && id > state.builtTo) continue;
        if (id <= highest) this.#remove(id);
        const book = prepareOnce(this.#store, SELECT_BOOK).get(id) as unknown as StoredBook | undefined;
        if (book) this.#add(book);
        highest = Math.max(highest, id);
      }
      const { position, nonce } = changes.at(-1) ?? this.#last;
      if (state.builtTo === null) state.done += position - state.position;
      Object.assign(state, { position, nonce });
    }
    return true;
  }

  /** Adds the books that are still to be read. @returns whether none is left */
  #build(state: IndexState): boolean {
    if (state.builtTo === null) return true;
    for (const row of prepareOnce(this.#store, SELECT_BOOKS_AFTER).iterate(state.builtTo)) {
      const book = row as unknown as StoredBook;
      this.#add(book);
      state.builtTo = book.id;
      state.done++;
      if (this.#isOver) return false;
    }
    state.builtTo = null;
    return true;
  }

  /** Creates the orders. @returns whether none is left */
  #createOrders(state: IndexState): boolean {
    for (const [index, order] of ORDERS.entries()) {
      if (this.#isOver) return false;
      this.#index.exec(order);
      state.orders = index + 1;
    }
    return true;
  }

  #remove(id: number): void {
    const removed = this.#writeIndex(REMOVE, id) as BookKeys | undefined;
    if (removed) this.#counted?.remove(removed);
    this.#writeIndex(REMOVE_WORDS, id);
    this.#writeIndex(REMOVE_TRIGRAMS, id);
  }

  #add({ id, title, author, year, bytes }: StoredBook): void {
    const compared = { title: comparedPart(title), author: comparedPart(author) };
    const folded = foldBook(compared);
    const { titleKey, authorKey, twinKey } = folded;
    const { titleLower, authorLower, words } = storedTextsOf(compared, folded);
    this.#writeIndex(ADD, id, titleKey, authorKey, twinKey, year, bytes, titleLower, authorLower, words);
    this.#writeIndex(ADD_WORDS, id, indexedWordsOf(folded.words));
    this.#writeIndex(ADD_TRIGRAMS, id, folded.words);
    this.#counted?.add({ id, title_key: titleKey, author_key: authorKey, year });
  }

  #readHighest(): number {
    return prepareOnce(this.#index, SELECT_HIGHEST).get()?.highest as number;
  }

  /** @returns the row that the statement returns, if it does */
  #writeIndex(sql: string, ...values: (string | number | null)[]): Record<string, unknown> | undefined {
    // `run` would also return the last id that FTS5 has inserted, which can exceed a number.
    return prepareOnce(this.#index, sql).get(...values);
  }
}

interface StoredBook extends Book {
  readonly bytes: number;
}

const SELECT_PLACE = selectPlace('?');
const SELECT_CHANGES = `
  select note as position, nonce, ${exact('id')} as id from book_changes where note > ? order by note limit ${CHANGES_AT_ONCE}`;
const SELECT_BOOKS = `
  select ${BOOK_COLUMNS}, ${TEXT_BYTES} as bytes from books`;
const SELECT_BOOK = `${SELECT_BOOKS} where id = ?`;
const SELECT_BOOKS_AFTER = `${SELECT_BOOKS} where id > ? and ${HAS_EXACT_ID} order by id`;
const COUNT_BOOKS = 'select count(*) as books from books';

const SELECT_HIGHEST = `select coalesce(max(id), ${FIRST}) as highest from book_search`;
const SELECT_BOOKS_MAX =
  // As REAL: the ids may be farther apart than a number has exactly.
  'select coalesce(1.0 + (select max(id) from book_search) - (select min(id) from book_search), 0) as books';
const REMOVE = 'delete from book_search where id = ? returning id, title_key, author_key, year';
const REMOVE_WORDS = 'delete from book_words where rowid = ?';
const REMOVE_TRIGRAMS = 'delete from book_trigrams where rowid = ?';
const ADD = 'insert into book_search values (?, ?, ?, ?, ?, ?, ?, ?, ?)';
const ADD_WORDS = 'insert into book_words (rowid, words) values (?, ?)';
const ADD_TRIGRAMS = 'insert into book_trigrams (rowid, words) values (?, ?)';

function comparedPart(text: string): string {
  if (text.length <= COMPARED_LENGTH) return text;
  return Array.from(text).slice(0, COMPARED_LENGTH).join('');
}
