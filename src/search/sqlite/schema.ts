import { DatabaseSync } from 'node:sqlite';
import { means } from '../../store/sqlite/error-codes.ts';
import { indexVersion } from '../index-version.ts';
import { POSITIONS_TABLE } from './positions.ts';

/** Increment it with every change of the tables or of the trigrams. */
export const VERSION = indexVersion(7);

/**
 * The index, in a file of its own. Words consist of letters, digits and symbols, as those that are folded; their beginnings are
 * found at once, and trigrams are for parts of texts. The folded title and author and their words are null where
 * stored-texts.ts computes them from the keys. The texts themselves are read from the store, in a snapshot of the same moment.
 *
 * Its state has the cursor of the last change of the log that the index has, and whether it `is_complete`: then it has exactly the
 * books after this change. While it is built, it has those up to the id `built_to`. `done` of `total` books or changes are in it.
 */
export const TABLES = `
  create table state (
    version text not null,
    position integer not null,
    nonce integer not null,
    is_complete integer not null,
    built_to real,
    done integer not null,
    total integer not null
  ) strict;
  create table book_search (
    id integer primary key,
    title_key text not null,
    author_key text not null,
    twin_key integer not null,
    year integer not null,
    bytes integer not null,
    title_lower text,
    author_lower text,
    words text
  ) strict;
  ${POSITIONS_TABLE}
  create virtual table book_words using fts5 (
    words, content = '', contentless_delete = 1, detail = none, prefix = '1 2 3',
    tokenize = "ascii tokenchars '$+<=>^\`|~'"
  );
  create virtual table book_trigrams using fts5 (
    words, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1'
  );
`;

export const DROP_TABLES = ['state', 'book_search', 'positions', 'book_words', 'book_trigrams']
  .map((table) => `drop table if exists ${table};`)
  .join(' ');

/** Created when the index has all books: sorting them once is several times faster than inserting each. */
const KEYS = { title_key: 'title_key', author_key: 'author_key', twin_key: 'twin_key, year', year: 'year' };
export const ORDERS = Object.entries(KEYS).map(
  ([key, columns]) => `create index if not exists by_${key} on book_search (${columns})`,
);
/** The work of creating one of them, in books that are added meanwhile: of ten million, whose sorting does not fit into the cache. */
const ORDER_PART = 0.06;
export const DROP_ORDERS = Object.keys(KEYS).map((key) => `drop index if exists by_${key}`);

/**
 * Whether an index has other tables than {@link TABLES} and FTS5 create, or triggers; or FTS5 cannot read what it has stored in its tables,
 * which only a statement shows.
 */
export function isAltered(index: DatabaseSync): boolean {
  using created = new DatabaseSync(':memory:');
  created.exec(TABLES);
  const tables = definitionsOf(created);
  created.exec(ORDERS.join(';'));
  const found = definitionsOf(index);
  if (!tables.isSubsetOf(found) || !found.isSubsetOf(definitionsOf(created))) return true;
  try {
    for (const table of ['book_words', 'book_trigrams'])
      index.prepare(`select rowid from ${table} where ${table} match 'abc' limit 1`).get();
    return false;
  } catch (error) {
    return means(error, 'damaged', 'no memory', 'statement', 'constraint');
  }
}

function definitionsOf(database: DatabaseSync): ReadonlySet<unknown> {
  const rows = database.prepare('select sql from sqlite_schema').all();
  return new Set(rows.map(({ sql }) => sql));
}

export interface IndexState {
  position: number;
  nonce: number;
  isComplete: number;
  builtTo: number | null;
  done: number;
  total: number;
  /** The number of the orders that there are. */
  orders: number;
}

export const SELECT_VERSION = 'select version from state';

export const SELECT_STATE = `
  select position, nonce, is_complete as isComplete, built_to as builtTo, done, total,
    (select count(*) from sqlite_schema where name like 'by!_%' escape '!') as orders
  from state`;

export const INSERT_STATE = 'insert into state values (?, ?, ?, 0, ?, 0, ?)';

export const SAVE_STATE =
  'update state set position = ?, nonce = ?, is_complete = ?, built_to = ?, done = ?, total = ?';

/** The part of the work that is done, in percent. */
export function percentOf({ done, total, orders }: Pick<IndexState, 'done' | 'total' | 'orders'>): number {
  const work = total * (1 + ORDER_PART * (ORDERS.length - orders));
  return total === 0 ? 0 : Math.min(99, Math.floor((100 * done) / work));
}
