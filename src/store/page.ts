import type { Book } from '../book/book.ts';
import type { Change, ChangePage, ChangeRequest, ChangeType } from '../book/book-history.ts';
import { type BookPage, StoreUnavailable } from '../book/book-store-interface.ts';
import { BATCH_LIMITS, PAGE_BOOKS_MAX, PAGE_TEXT_BYTES_MAX, textLength } from './store-limits.ts';

/** The result of reading up to a number of books after an id. */
export interface PageRow {
  readonly count: number;
  readonly last: number;
  /** The books as JSON objects with commas between them; null when their texts exceed the limit of one page. */
  readonly json: Uint8Array | null;
}

/** Reads up to `limit` books after an id; a single book is rendered whatever its length. */
type ReadRow = (after: number, limit: number) => Promise<PageRow>;

/** Reads the pages of one batch, equal ones once. @returns the pages in the order of `afters` */
export async function readPages(
  afters: readonly number[],
  read: ReadRow,
  booksMax = PAGE_BOOKS_MAX,
): Promise<BookPage[]> {
  const pages = new Map<number, BookPage>();
  for (const after of new Set(afters)) pages.set(after, await readPage(after, read, booksMax));
  return afters.map((after) => pages.get(after) as BookPage);
}

/** Reads one page, of fewer books where books are long. */
export async function readPage(after: number, read: ReadRow, booksMax = PAGE_BOOKS_MAX): Promise<BookPage> {
  for (let limit = booksMax; ; limit = Math.ceil(limit / 2)) {
    const { count, last, json } = await read(after, limit);
    if (count === 0) return { json: new Uint8Array(), last: undefined };
    if (json !== null) return { json, last: count < limit ? undefined : last };
  }
}

/** The state of the log, and a change; without a change, its columns are null. */
export interface ChangeRow extends Book {
  readonly log: string;
  readonly removed: number;
  readonly last: number;
  readonly newest: number;
  /** Null when changes are not recorded. */
  readonly days: number | null;
  readonly note: number | null;
  /** Whether the change is one of the requested ones. */
  readonly isRequested: boolean | number;
  readonly type: ChangeType;
  readonly at: number;
}

/** Makes a page of rows, each of which has the state of the log. */
export function toChangePage(rows: Iterable<ChangeRow>): ChangePage {
  let state: ChangeRow | undefined;
  let reached: number | undefined;
  const changes: Change[] = [];
  for (const row of rows) {
    state ??= row;
    const { note, isRequested, type, at, id, title, author, year } = row;
    if (note === null) continue;
    reached = note;
    if (isRequested) changes.push({ position: note, type, at, book: { id, title, author, year } });
  }
  if (!state) throw new Error('the log of changes has no state');
  const { log, removed, last, newest, days } = state;
  return { log, removed, last, newest, isRecorded: days !== null, changes, reached };
}

/** The values for the statement of a request: after or before which change, how many, and of which book. */
export function valuesOf({ id, isOfDeleted, after, limit }: ChangeRequest): number[] {
  const isLastFirst = id !== undefined || isOfDeleted;
  const values = [after ?? (isLastFirst ? Number.MAX_SAFE_INTEGER : 0), limit];
  return id === undefined ? values : [...values, id];
}

/**
 * Makes the statements that read changes, in the order of `number`, until their texts are long.
 *
 * @param isReadable the condition on changes that may be read
 * @param parameters in the order of {@link valuesOf}
 * @param statement joins the state of the log and `changes`, some of which are requested
 */
export function changeStatements(
  table: string,
  isReadable: string,
  [after, limit, id]: readonly [after: string, limit: string, id: string],
  statement: (changes: string, isRequested: string) => string,
): (request: ChangeRequest) => string {
  const select = (condition: string, order: 'asc' | 'desc', isRequested = 'true') =>
    statement(
      `(
        select * from (
          select *, row_number() over preceding as number,
            sum(octet_length(title) + octet_length(author)) over preceding as total
          from (
            select * from ${table}
            where note > (select removed from book_history) and ${isReadable} and ${condition}
            order by note ${order} limit ${limit}
          ) as readable
          window preceding as (order by note ${order} rows unbounded preceding)
        ) as numbered
        where number = 1 or total <= ${PAGE_TEXT_BYTES_MAX}
      ) as changes`,
      isRequested,
    );
  const isLater = 'later.id = changes.id and later.note > changes.note';
  const isStillDeleted = `not exists (select 1 from ${table} as later where ${isLater})`;
  const all = select(`note > ${after}`, 'asc');
  const ofBook = select(`note < ${after} and id = ${id}`, 'desc');
  const ofDeleted = select(`note < ${after} and type = 'deleted'`, 'desc', isStillDeleted);
  return (request) => (request.isOfDeleted ? ofDeleted : request.id === undefined ? all : ofBook);
}

/**
 * Reads pages until their texts are long, equal ones once: all followers wait for the same change.
 *
 * @returns the pages of the first requests
 */
export async function readChangePages(
  requests: readonly ChangeRequest[],
  read: (request: ChangeRequest) => Promise<ChangePage>,
): Promise<ChangePage[]> {
  const known = new Map<string, ChangePage>();
  const pages: ChangePage[] = [];
  let text = 0;
  for (const request of requests) {
    const key = JSON.stringify(request);
    let page = known.get(key);
    if (!page) {
      if (text > BATCH_LIMITS.batchTextMax) break;
      page = await read(request);
      if (!page.isRecorded) throw new StoreUnavailable('another process has turned the history off');
      for (const { book } of page.changes) text += textLength(book);
      known.set(key, page);
    }
    pages.push(page);
  }
  return pages;
}
