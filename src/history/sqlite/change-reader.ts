import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Book } from '../../book/book.ts';
import { REMOVAL_MAX } from '../../store/limits.ts';
import type { LogPlace } from '../../store/log-position.ts';
import { GAP_ID, type PlaceRow, selectPlace, toPlace } from '../../store/sqlite/change-log.ts';
import { prepareOnce } from '../../store/sqlite/prepared.ts';
import { BOOK_COLUMNS, exact, HAS_EXACT_ID } from '../../store/sqlite/sql.ts';
import type {
  ChangeCursor,
  ChangePage,
  ChangeRequest,
  CursorFault,
  RestoreFault,
  RestoreRequest,
} from '../book-history.ts';
import { type ChangeRow, faultOf, notRecorded, toChangePage } from '../change-log.ts';

/** The most text that one step of a removal removes, beside that of a single change. */
const REMOVAL_BYTES_MAX = 4 * 1_024 * 1_024;

/** The triggers record the numbers that other programs write as they are. */
const SELECT = `
  select note as position, nonce, type is not null and type <> 'gap' and ${HAS_EXACT_ID} as isRequested,
    false as hasGapAfter, type, at, ${exact('id')} as id,
    coalesce(title, '') as title, coalesce(author, '') as author, ${exact('year')} as year
  from book_changes
`;

const ALL = `${SELECT} where note > ? order by note limit ?`;
const LAST_FIRST = `${SELECT} where note < ? order by note desc limit ?`;
const OF_DELETED = `${SELECT} where note < ? and type = 'deleted' and ${HAS_EXACT_ID} order by note desc limit ?`;
const ONE = `${SELECT} where note = ?`;

const NOTES_OF_BOOK =
  'select note from book_changes where id = ? and note < ? and type is not null order by note desc';
const LAST_OF_BOOK = 'select max(note) as note from book_changes where id = ? and type is not null';

const PLACE = selectPlace('?');

/**
 * Reads and removes changes, and restores books. Call its methods in a transaction. They throw StoreUnavailable when another
 * process has turned the history off.
 */
export class ChangeReader {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  read(request: ChangeRequest): ChangePage | CursorFault {
    const { after, limit, id, isOfDeleted, isLastFirst } = request;
    const place = this.#placeOf(after);
    const fault = faultOf(request, place);
    if (fault) return fault;
    const before = after?.position ?? Number.MAX_VALUE;
    if (id !== undefined) return toChangePage(this.#ofBook(id, before, limit), after);
    if (isOfDeleted) return toChangePage(this.#ofDeleted(before, limit), after);
    if (isLastFirst) return toChangePage(this.#rows(LAST_FIRST, before, limit), after);
    const from = after ?? place.start;
    return toChangePage(this.#rows(ALL, from.position, limit), from);
  }

  /** Restores all of the books, or none. */
  restore({ deletions, bytesMax = Infinity }: RestoreRequest): readonly Book[] | RestoreFault {
    this.#placeOf(undefined);
    const positions: number[] = [];
    let bytes = 0;
    for (const [index, { id, cursor }] of deletions.entries()) {
      if (this.#hasBook(id)) return { fault: 'exists', index };
      const [last] = this.#ofBook(id, Number.MAX_VALUE, 1);
      if (!last) return { fault: 'absent', index };
      const { position, nonce, type, title, author } = last;
      if (cursor && (position !== cursor.position || nonce !== cursor.nonce))
        return { fault: 'changed', index };
      if (type !== 'deleted') return { fault: 'absent', index };
      bytes += Buffer.byteLength(JSON.stringify([title, author]));
      if (bytes > bytesMax) return { fault: 'too long', index };
      positions.push(position);
    }
    return positions.map((position) => this.#prepare(RESTORE).get(position) as unknown as Book);
  }

  /** Removes the first changes that are older than those to be kept. @returns whether there may be more of them */
  removeOld(): boolean {
    let last: number | undefined;
    let changes = 0;
    let bytes = 0;
    for (const row of this.#prepare(OLDEST).iterate()) {
      bytes += row.bytes as number;
      if (!row.isOld || (last !== undefined && bytes > REMOVAL_BYTES_MAX)) break;
      last = row.note as number;
      changes++;
    }
    if (last === undefined) return false;
    this.#prepare('delete from book_changes where note <= ?').run(last);
    return changes === REMOVAL_MAX || bytes > REMOVAL_BYTES_MAX;
  }

  /** The changes of a book, the last one first; one is read at a time, as their texts may be long. */
  *#ofBook(id: number, before: number, limit: number): Generator<ChangeRow> {
    const gaps = [...this.#notesOf(GAP_ID, before)];
    let later = before;
    let count = 0;
    for (const note of this.#notesOf(id, before)) {
      const row = this.#prepare(ONE).get(note) as ChangeRow | undefined;
      if (!row) continue;
      yield { ...row, hasGapAfter: gaps.some((gap) => gap > note && gap < later) };
      later = note;
      if (++count === limit) return;
    }
  }

  /** The deletions, the last one first; those are requested that have deleted a book that is still deleted. */
  *#ofDeleted(before: number, limit: number): Generator<ChangeRow> {
    for (const row of this.#rows(OF_DELETED, before, limit)) {
      const isLast = this.#prepare(LAST_OF_BOOK).get(row.id)?.note === row.position;
      yield { ...row, isRequested: isLast && !this.#hasBook(row.id) };
    }
  }

  #placeOf(cursor: ChangeCursor | undefined): LogPlace {
    const row = this.#prepare(PLACE).get(cursor?.position ?? null) as PlaceRow | undefined;
    if (typeof row?.days !== 'number') throw notRecorded();
    return toPlace(row);
  }

  #hasBook(id: number): boolean {
    return this.#prepare('select 1 from books where id = ?').get(id) !== undefined;
  }

  /** The positions of the changes of a book, the last one first. */
  *#notesOf(id: number, before: number): Generator<number> {
    for (const { note } of this.#prepare(NOTES_OF_BOOK).iterate(id, before)) yield note as number;
  }

  #rows(sql: string, ...values: number[]): Iterable<ChangeRow> {
    return this.#prepare(sql).iterate(...values) as Iterable<unknown> as Iterable<ChangeRow>;
  }

  #prepare(sql: string): StatementSync {
    return prepareOnce(this.#database, sql);
  }
}

const RESTORE = `
  insert into books (id, title, author, year) select id, title, author, ${exact('year')} from book_changes where note = ?
  returning ${BOOK_COLUMNS}
`;

const IS_OLD = 'coalesce(at, 0) < (unixepoch() - (select days from book_history) * 86400) * 1000';

const OLDEST = `
  select note, coalesce(octet_length(title), 0) + coalesce(octet_length(author), 0) as bytes, ${IS_OLD} as isOld
  from book_changes order by note limit ${REMOVAL_MAX}
`;

/** Whether the first change is older than those to be kept. */
export const HAS_OLD = `select 1 from (select at from book_changes order by note limit 1) where ${IS_OLD}`;
