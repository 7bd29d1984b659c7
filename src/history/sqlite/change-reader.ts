import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { LEFT_OUT, TableRejection } from '../../book/book-store.ts';
import type { Book } from '../../book/contract.ts';
import type { LogPlace } from '../../changes/log-position.ts';
import { type PlaceRow, selectPlace, toPlace } from '../../changes/sqlite/change-log.ts';
import { prepareOnce } from '../../changes/sqlite/prepared.ts';
import { GAP_ID } from '../../changes/sqlite/tables.ts';
import { eachField, FIELD_LIST } from '../../store/each-field.ts';
import { REMOVAL_MAX } from '../../store/limits.ts';
import { BOOK_COLUMNS, exact, fieldOf, HAS_EXACT_ID } from '../../store/sqlite/book-columns.ts';
import { toTableRejection } from '../../store/sqlite/table-rejections.ts';
import type {
  ChangeCursor,
  ChangePage,
  ChangeRequest,
  CursorFault,
  RestoreFault,
  RestoreRequest,
} from '../book-history.ts';
import { type ChangeRow, faultOf, notRecorded, textBytesOf, toChangePage } from '../change-page.ts';

/** Reads a page. The triggers record the numbers that other programs write as they are. The parameters are a position and the limit. */
function selectPage(condition: string, { isRequested = 'true', hasGapAfter = 'false' } = {}): string {
  return `
    select note as position, nonce, type is not null and type <> 'gap' and ${HAS_EXACT_ID} and ${isRequested} as isRequested,
      ${hasGapAfter} as hasGapAfter, type, at, ${exact('id')} as id, ${eachField((name) => `${fieldOf(name)} as ${name}`)}
    from book_changes as changes where ${condition} limit ?`;
}

const INDEXED = '(select indexed from book_history)';

/** The positions of the changes of a book: by the index, and by a scan of the changes that it does not have yet. */
const notesOf = (id: string, condition: string) => `
  select note from book_changes_by_book where id = ${id} and ${condition}
  union all
  select note from book_changes where note > ${INDEXED} and id = ${id} and type is not null and ${condition}`;
const LATER = notesOf('changes.id', 'note > changes.note');

const SELECT_CHANGES = selectPage('note > ? order by note');
const SELECT_LAST_FIRST = selectPage('note < ? order by note desc');
/** The first parameter is the id of the book. */
const SELECT_OF_BOOK = selectPage(`note in (${notesOf('?1', 'note < ?2')}) order by note desc`, {
  hasGapAfter: `exists (${notesOf(
    String(GAP_ID),
    `note > changes.note and note < coalesce((select min(note) from (${LATER})), ${Number.MAX_SAFE_INTEGER})`,
  )})`,
});
const SELECT_DELETED = selectPage(`note < ? and type = 'deleted' and ${HAS_EXACT_ID} order by note desc`, {
  isRequested: `not exists (${LATER}) and not exists (select 1 from books where books.id = changes.id)`,
});

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
    const { after, limit, of } = request;
    const place = this.#placeOf(after);
    const fault = faultOf(request, place);
    if (fault) return fault;
    if (of === undefined) {
      const from = after ?? place.start;
      return toChangePage(this.#rows(SELECT_CHANGES, from.position, limit), from);
    }
    const before = after?.position ?? Number.MAX_VALUE;
    if (of === 'all') return toChangePage(this.#rows(SELECT_LAST_FIRST, before, limit), after);
    if (of === 'deleted') return toChangePage(this.#rows(SELECT_DELETED, before, limit), after);
    return toChangePage(this.#rows(SELECT_OF_BOOK, of, before, limit), after);
  }

  /** Restores all of the books, or none. */
  restore({ deletions, bytesMax = Infinity }: RestoreRequest): readonly Book[] | RestoreFault {
    this.#placeOf(undefined);
    while (this.index());
    const positions: number[] = [];
    let bytes = 0;
    for (const [index, { id, cursor }] of deletions.entries()) {
      if (this.#hasBook(id)) return { fault: 'exists', index };
      const [last] = this.#rows(SELECT_OF_BOOK, id, Number.MAX_VALUE, 1);
      if (!last) return { fault: 'absent', index };
      const { position, nonce, type } = last;
      if (cursor && (position !== cursor.position || nonce !== cursor.nonce))
        return { fault: 'changed', index };
      if (type !== 'deleted') return { fault: 'absent', index };
      bytes += textBytesOf(last);
      if (bytes > bytesMax) return { fault: 'too long', index };
      positions.push(position);
    }
    return positions.map((position, index) => {
      try {
        const book = this.#prepare(RESTORE).get(position) as unknown as Book | undefined;
        if (!book) throw new TableRejection(LEFT_OUT);
        return book;
      } catch (error) {
        throw toTableRejection(this.#database, error, () => (positions.length > 1 ? index : undefined));
      }
    });
  }

  /** Removes the first changes that are older than those to be kept. @returns whether there may be more of them */
  removeOld(): boolean {
    return this.#prepare(REMOVE_OLD).run().changes === REMOVAL_MAX;
  }

  /** Adds the next changes to the index by book. @returns whether there may be more of them */
  index(): boolean {
    const { note, count } = this.#prepare(INDEX_END).get() as { note: number | null; count: number };
    if (note === null) return false;
    this.#prepare(INDEX_NEXT).run(note);
    this.#prepare('update book_history set indexed = ?').run(note);
    return count === INDEXED_AT_ONCE;
  }

  #placeOf(cursor: ChangeCursor | undefined): LogPlace {
    const row = this.#prepare(PLACE).get(cursor?.position ?? null) as PlaceRow | undefined;
    if (typeof row?.days !== 'number') throw notRecorded();
    return toPlace(row);
  }

  #hasBook(id: number): boolean {
    return this.#prepare('select 1 from books where id = ?').get(id) !== undefined;
  }

  #rows(sql: string, ...values: number[]): Iterable<ChangeRow> {
    return this.#prepare(sql).iterate(...values) as Iterable<unknown> as Iterable<ChangeRow>;
  }

  #prepare(sql: string): StatementSync {
    return prepareOnce(this.#database, sql);
  }
}

const RESTORE = `
  insert into books (id, ${FIELD_LIST}) select id, ${eachField(fieldOf)} from book_changes where note = ?
  returning ${BOOK_COLUMNS}
`;

/** The number of changes that the index by book lacks. */
export const SELECT_BACKLOG = `select coalesce((select max(note) from book_changes), 0) - ${INDEXED} as backlog`;

/** As other writes wait for a step. */
const INDEXED_AT_ONCE = 20_000;

const INDEX_END = `
  select max(note) as note, count(*) as count
  from (select note from book_changes where note > ${INDEXED} order by note limit ${INDEXED_AT_ONCE})
`;
const INDEX_NEXT = `
  insert into book_changes_by_book
  select id, note from book_changes where note > ${INDEXED} and note <= ? and type is not null order by id, note
`;

const IS_OLD = 'coalesce(at, 0) < (unixepoch() - (select days from book_history) * 86400) * 1000';

/** Up to the first change to be kept. */
const REMOVE_OLD = `
  delete from book_changes where note < (
    select coalesce(min(note) filter (where not ${IS_OLD}), max(note) + 1)
    from (select note, at from book_changes order by note limit ${REMOVAL_MAX})
  )
`;

/** Whether the first change is older than those to be kept. */
export const HAS_OLD = `select 1 from (select at from book_changes order by note limit 1) where ${IS_OLD}`;
