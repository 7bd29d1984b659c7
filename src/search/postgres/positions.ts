import type { PoolClient } from 'pg';
import { BLOCK_BOOKS, BLOCK_BOOKS_MAX, type Block, FIRST_POSITIONS } from '../blocks.ts';
import { type BookPosition, type SearchQuery, SORT_KEYS, type SortKey } from '../book-search.ts';
import { keyColumnOf, orderOf } from '../conditions.ts';
import { type Condition, Parameters } from '../parameters.ts';

/**
 * The blocks of each order. A key is in `text_key` or `number_key`, by its type; the other one has a constant. Only the transaction that
 * applies changes to the index writes here, so the writers of books never wait for a count.
 */
export function createPositions(schema: string): string {
  return `
    drop table if exists ${schema}.book_search_positions;
    create table ${schema}.book_search_positions (
      sort text collate "C" not null,
      text_key text collate "C" not null,
      number_key bigint not null,
      id bigint not null,
      books integer not null,
      primary key (sort, text_key, number_key, id)
    ) with (fillfactor = 50);
  `;
}

/** Until {@link Positions.build}, no books are counted. */
export const CLEAR_POSITIONS = 'delete from book_search_positions';

/** The positions in the orders of an index, in the snapshot of a transaction. */
export class Positions {
  readonly #client: PoolClient;

  constructor(client: PoolClient) {
    this.#client = client;
  }

  /** Counts all books anew, those of one order after the other. @param timeoutMs the longest time for a statement */
  async build(timeoutMs: number): Promise<void> {
    await this.#rows(() => CLEAR_POSITIONS, timeoutMs);
    const [all] = await this.#rows<{ books: number }>(
      () => 'select count(*) as books from book_search',
      timeoutMs,
    );
    const books = Number(all?.books);
    for (const sort of SORT_KEYS) {
      const first = { ...FIRST_POSITIONS[sort], books };
      await this.#rows(insertBlock(sort, first), timeoutMs);
      await this.#rows(splitBlock(sort, first), timeoutMs);
    }
  }

  /** Splits blocks that have too many books. @param full the rows of a statement of {@link counting} */
  async split(full: readonly BlockRow[]): Promise<void> {
    for (const row of full) await this.#rows(splitBlock(row.sort, toBlock(row)));
  }

  /** The number of books after a position in the order of a query; its conditions do not matter. */
  async countAfter({ sort, isDescending }: SearchQuery, after: BookPosition | undefined): Promise<number> {
    if (after && isDescending) return this.#countTo(sort as SortKey, after, '<');
    const all = await this.#countAll(sort as SortKey);
    return after ? all - (await this.#countTo(sort as SortKey, after, '<=')) : all;
  }

  /** The position of the `number`-th book after another one; undefined if there are fewer. */
  async find(
    query: SearchQuery,
    after: BookPosition | undefined,
    number: number,
  ): Promise<BookPosition | undefined> {
    const sort = query.sort as SortKey;
    const passed = after ? await this.#countPassed(query, after) : 0;
    const [row] = await this.#rows<BlockRow & { before: number }>(selectBlockWith(query, passed + number));
    if (!row) return undefined;
    const place = passed + number - row.before;
    const skipped = query.isDescending ? row.books - place : place - 1;
    const [book] = await this.#rows<BookPosition>(
      (parameters) => `
        select ${keyColumnOf(query)} as key, id from book_search where ${compare(sort, '>=', toBlock(row))(parameters)}
        order by ${orderOf({ sort, isDescending: false })} limit 1 offset ${parameters.add(skipped)}`,
    );
    return book;
  }

  /** The number of books up to a position in the order of a query. */
  async #countPassed({ sort, isDescending }: SearchQuery, position: BookPosition): Promise<number> {
    if (!isDescending) return this.#countTo(sort as SortKey, position, '<=');
    return (await this.#countAll(sort as SortKey)) - (await this.#countTo(sort as SortKey, position, '<'));
  }

  async #countAll(sort: SortKey): Promise<number> {
    const [all] = await this.#rows<{ books: number }>(
      (parameters) =>
        `select sum(books) as books from book_search_positions where sort = ${parameters.add(sort)}`,
    );
    return Number(all?.books);
  }

  /** The number of books before a position, or up to it: those of the blocks before the one of the position, and some of its block. */
  async #countTo(sort: SortKey, position: BookPosition, comparison: '<' | '<='): Promise<number> {
    const [row] = await this.#rows<BlockRow>(selectBlockOf(sort, position));
    // A position may be before all books.
    if (!row) return 0;
    const block = toBlock(row);
    const [counted] = await this.#rows<{ books: number }>(
      (parameters) => `
        select
          (
            select coalesce(sum(books), 0) from book_search_positions
            where sort = ${parameters.add(sort)} and ${BLOCK_KEYS} < (${addKeys(block, parameters)})
          ) + (
            select count(*) from book_search
            where ${compare(sort, '>=', block)(parameters)} and ${compare(sort, comparison, position)(parameters)}
          ) as books`,
    );
    return Number(counted?.books);
  }

  /** @param timeoutMs unless that of the connection */
  async #rows<Row extends object>(sql: Condition, timeoutMs?: number): Promise<Row[]> {
    const parameters = new Parameters('$');
    const statement = { text: sql(parameters), values: parameters.values };
    const timeout = timeoutMs === undefined ? {} : { query_timeout: timeoutMs };
    return (await this.#client.query<Row>(Object.assign(statement, timeout))).rows;
  }
}

export interface BlockRow {
  readonly sort: SortKey;
  readonly text_key: string;
  readonly number_key: number;
  readonly id: number;
  readonly books: number;
}

function toBlock({ sort, text_key: text, number_key: number, id, books }: BlockRow): Block {
  return { key: hasTextKey(sort) ? text : number, id, books };
}

/**
 * Counts the books that a statement adds to the index, or removes from it. It joins by the places of rows, which no other transaction
 * changes.
 *
 * @param sign whether the books are added or removed
 * @returns a statement that selects the blocks which have too many books now
 */
export function counting(sign: '+' | '-', statement: string): string {
  const keys = SORT_KEYS.map((sort) => `('${sort}', ${keyColumnsOf(sort)})`);
  return `
    with changed as (${statement} returning id, title_key, author_key, year),
      counted as (
        select block.place, count(*) as books
        from changed
          cross join lateral (values ${keys.join(', ')}) as keys (sort, text_key, number_key)
          cross join lateral (
            select ctid as place from book_search_positions
            where sort = keys.sort and ${BLOCK_KEYS} <= (keys.text_key, keys.number_key, changed.id)
            order by ${BLOCKS_DESCENDING} limit 1
          ) as block
        where exists (select from book_search_positions)
        group by block.place
      ),
      blocks as (
        update book_search_positions as block set books = block.books ${sign} counted.books
        from counted where block.ctid = counted.place
        returning block.*
      )
    select * from blocks where books > ${BLOCK_BOOKS_MAX}
  `;
}

/** Where a block begins, in the table of blocks; as in its primary key, after the order. */
const BLOCK_KEYS =
  '(book_search_positions.text_key, book_search_positions.number_key, book_search_positions.id)';
const BLOCKS_DESCENDING =
  'book_search_positions.text_key desc, book_search_positions.number_key desc, book_search_positions.id desc';

/** The block that a position is in. */
function selectBlockOf(sort: SortKey, position: BookPosition): Condition {
  return (parameters) => `
    select * from book_search_positions
    where sort = ${parameters.add(sort)} and ${BLOCK_KEYS} <= (${addKeys(position, parameters)})
    order by ${BLOCKS_DESCENDING} limit 1`;
}

/** The block that has the book of a number in the order of a query, and the number of books before the block. */
function selectBlockWith({ sort, isDescending }: SearchQuery, number: number): Condition {
  const keys = ['text_key', 'number_key', 'id']
    .map((key) => `${key} ${isDescending ? 'desc' : 'asc'}`)
    .join(', ');
  return (parameters) => `
    select * from (
      select *, sum(books) over (order by ${keys}) - books as before
      from book_search_positions where sort = ${parameters.add(sort)}
    ) as blocks
    where before + books >= ${parameters.add(number)} order by ${keys} limit 1`;
}

function insertBlock(sort: SortKey, block: Block): Condition {
  return (parameters) => `
    insert into book_search_positions (sort, text_key, number_key, id, books)
    values (${parameters.add(sort)}, ${addKeys(block, parameters)}, ${parameters.add(block.books)})`;
}

/** Makes several blocks of one, of which the first begins where that one does. */
function splitBlock(sort: SortKey, block: Block): Condition {
  const ascending = orderOf({ sort, isDescending: false });
  return (parameters) => {
    const books = parameters.add(block.books);
    return `
      insert into book_search_positions (sort, text_key, number_key, id, books)
      select first.sort, case number when 0 then first.text_key else books.text_key end,
        case number when 0 then first.number_key else books.number_key end,
        case number when 0 then first.id else books.id end, least(${BLOCK_BOOKS}, ${books}::bigint - number)
      from (
        select ${keyColumnsOf(sort)}, id, row_number() over (order by ${ascending}) - 1
        from book_search where ${compare(sort, '>=', block)(parameters)} order by ${ascending} limit ${books}
      ) as books (text_key, number_key, id, number)
        cross join (values (${parameters.add(sort)}, ${addKeys(block, parameters)})) as first (sort, text_key, number_key, id)
      where number % ${BLOCK_BOOKS} = 0
      on conflict (sort, text_key, number_key, id) do update set books = excluded.books`;
  };
}

function hasTextKey(sort: SortKey): boolean {
  return typeof FIRST_POSITIONS[sort].key === 'string';
}

/** The columns `text_key` and `number_key` of a book. */
function keyColumnsOf(sort: SortKey): string {
  return hasTextKey(sort) ? `${keyColumnOf({ sort })}, 0` : `'', ${keyColumnOf({ sort })}`;
}

/** Values for the columns `text_key`, `number_key` and `id`. */
function keysOf({ key, id }: BookPosition): [string, number, number] {
  return typeof key === 'string' ? [key, 0, id] : ['', key, id];
}

function addKeys(position: BookPosition, parameters: Parameters): string {
  const [text, number, id] = keysOf(position).map((key) => parameters.add(key));
  return `${text}::text, ${number}::bigint, ${id}::bigint`;
}

/** Compares books with a position. */
function compare(sort: SortKey, comparison: '>=' | '<=' | '<', { key, id }: BookPosition): Condition {
  return (parameters) =>
    sort === 'id'
      ? `id ${comparison} ${parameters.add(id)}`
      : `(${keyColumnOf({ sort })}, id) ${comparison} (${parameters.add(key)}, ${parameters.add(id)})`;
}
