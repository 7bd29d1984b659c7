import type { DatabaseSync } from 'node:sqlite';
import { prepareOnce } from '../../changes/sqlite/prepared.ts';
import { BLOCK_BOOKS, BLOCK_BOOKS_MAX, type Block, type BookKeys, FIRST_POSITIONS } from '../blocks.ts';
import { type BookPosition, type SearchQuery, SORT_KEYS, type SortKey } from '../book-search.ts';
import { keyColumnOf } from '../conditions.ts';

/** The blocks of each order. */
export const POSITIONS_TABLE = `
  create table positions (
    sort text not null,
    key any not null,
    id integer not null,
    books integer not null,
    primary key (sort, key, id)
  ) strict, without rowid;
`;

/** The positions in the orders of an index, which is in a transaction. */
export class Positions {
  readonly #database: DatabaseSync;
  /** The books that were added or removed, and are not counted yet. */
  #uncounted: [book: BookKeys, difference: 1 | -1][] = [];

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Whether those of any order are built, and are to be kept up to date. */
  get areBegun(): boolean {
    return this.#get('select 1 from positions limit 1') !== undefined;
  }

  /** Counts all books, those of one order after the other. @returns whether no order is left */
  build(deadline: number): boolean {
    for (const sort of SORT_KEYS) {
      if (this.#get('select 1 from positions where sort = ? limit 1', sort)) continue;
      if (performance.now() > deadline) return false;
      const { key, id } = FIRST_POSITIONS[sort];
      this.#get(insertBlocks(sort), sort, key, id);
    }
    return true;
  }

  clear(): void {
    this.#database.exec('delete from positions');
  }

  /** A book was added. */
  add(book: BookKeys): void {
    this.#uncounted.push([book, 1]);
  }

  /** A book was removed. */
  remove(book: BookKeys): void {
    this.#uncounted.push([book, -1]);
  }

  /** Counts the books that were added and removed since the last time, in the orders that are built. */
  flush(): void {
    if (this.#uncounted.length === 0) return;
    for (const sort of SORT_KEYS) {
      const column = keyColumnOf({ sort });
      const books = this.#uncounted.map(([book, difference]) => [book[column], book.id, difference]);
      const blocks = this.#prepare(COUNT).all(sort, JSON.stringify(books)) as unknown as Block[];
      for (const block of blocks) this.#split(sort, block);
    }
    this.#uncounted = [];
  }

  /** Splits a block that has too many books. */
  #split(sort: SortKey, full: Block): void {
    for (let block = full; block.books > BLOCK_BOOKS_MAX; ) {
      const next = this.#bookFrom(sort, block, BLOCK_BOOKS) as BookPosition;
      this.#run(
        'update positions set books = ? where sort = ? and key = ? and id = ?',
        BLOCK_BOOKS,
        sort,
        block,
      );
      const rest = { ...next, books: block.books - BLOCK_BOOKS };
      this.#run('insert into positions (books, sort, key, id) values (?, ?, ?, ?)', rest.books, sort, rest);
      block = rest;
    }
  }

  /** The number of all books, by the blocks of an order. */
  countAll(sort: SortKey): number {
    return this.#get('select coalesce(sum(books), 0) as books from positions where sort = ?', sort)
      ?.books as number;
  }

  /** The number of books after a position in the order of a query; its conditions do not matter. */
  countAfter({ sort, isDescending }: SearchQuery, after: BookPosition | undefined): number {
    const all = this.countAll(sort as SortKey);
    if (!after) return all;
    return isDescending
      ? this.#countTo(sort as SortKey, after, '<')
      : all - this.#countTo(sort as SortKey, after, '<=');
  }

  /** The position of the `number`-th book after another one; undefined if there are fewer. */
  find(query: SearchQuery, after: BookPosition | undefined, number: number): BookPosition | undefined {
    const sort = query.sort as SortKey;
    const following = this.countAfter(query, after);
    if (number > following) return undefined;
    // Its number in ascending order.
    const place = query.isDescending ? following - number + 1 : this.countAll(sort) - following + number;
    let before = 0;
    const blocks = this.#prepare('select key, id, books from positions where sort = ? order by key, id');
    for (const row of blocks.iterate(sort)) {
      const block = row as unknown as Block;
      if (before + block.books >= place) return this.#bookFrom(sort, block, place - before - 1);
      before += block.books;
    }
    return undefined;
  }

  /** The number of books before a position, or up to it. */
  #countTo(sort: SortKey, { key, id }: BookPosition, comparison: '<' | '<='): number {
    const block = this.#get(SELECT_BLOCK, sort, key, id) as unknown as Block | undefined;
    // A position may be before all books.
    if (!block) return 0;
    const before = this.#get(
      'select coalesce(sum(books), 0) as books from positions where sort = ? and (key, id) < (?, ?)',
      sort,
      block.key,
      block.id,
    );
    const within = this.#get(
      `select count(*) as books from (${booksFrom(sort)} limit ?3) where (key, id) ${comparison} (?4, ?5)`,
      block.key,
      block.id,
      block.books,
      key,
      id,
    );
    return Number(before?.books) + Number(within?.books);
  }

  /** The book that follows so many from a position on. */
  #bookFrom(sort: SortKey, { key, id }: BookPosition, skipped: number): BookPosition | undefined {
    return this.#get(`${booksFrom(sort)} limit 1 offset ?3 - 1`, key, id, skipped + 1) as unknown as
      | BookPosition
      | undefined;
  }

  #run(sql: string, books: number, sort: SortKey, { key, id }: BookPosition): void {
    // `run` would also return the last id that FTS5 has inserted, which can exceed a number.
    this.#get(sql, books, sort, key, id);
  }

  #get(sql: string, ...values: (string | number)[]): Record<string, unknown> | undefined {
    return this.#prepare(sql).get(...values);
  }

  #prepare(sql: string) {
    return prepareOnce(this.#database, sql);
  }
}

/**
 * The first `?3` books from a position on, with its key `?1` and id `?2`. A condition `(year, id) >= (?1, ?2)` would read all books of the
 * year, as SQLite looks up row values only by the columns of an index, without its row id.
 */
function booksFrom(sort: SortKey): string {
  const column = keyColumnOf({ sort });
  const first = (condition: string) =>
    `select * from (select ${column} as key, id from book_search where ${condition} order by ${column}, id limit ?3)`;
  return `
    select key, id from (${first(`${column} = ?1 and id >= ?2`)} union all ${first(`${column} > ?1`)})
    order by key, id`;
}

/** Inserts the blocks of an order, the first of which begins at the key `?2` and the id `?3`, and is there without books, too. */
function insertBlocks(sort: SortKey): string {
  const column = keyColumnOf({ sort });
  return `
    insert into positions (sort, key, id, books)
    select ?1, iif(number = 0, ?2, key), iif(number = 0, ?3, id), min(${BLOCK_BOOKS}, total - number)
    from (
      select ${column} as key, id, row_number() over (order by ${column}, id) - 1 as number, (select count(*) from book_search) as total
      from book_search
    )
    where number % ${BLOCK_BOOKS} = 0
    union all
    select ?1, ?2, ?3, 0 where not exists (select 1 from book_search)`;
}

const SELECT_BLOCK = `
  select key, id, books from positions where sort = ? and (key, id) <= (?, ?) order by key desc, id desc limit 1`;
const COUNT = `
  update positions set books = books + counted.difference
  from (
    select block.key, block.id, sum(uncounted.value ->> 2) as difference
    from json_each(?2) as uncounted cross join positions as block on block.sort = ?1 and (block.key, block.id) = (
      select key, id from positions where sort = ?1 and (key, id) <= (uncounted.value ->> 0, uncounted.value ->> 1)
      order by key desc, id desc limit 1
    )
    group by block.key, block.id
  ) as counted
  where positions.sort = ?1 and positions.key = counted.key and positions.id = counted.id
  returning positions.key, positions.id, positions.books`;
