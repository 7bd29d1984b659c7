import type { Book } from '../book/book.ts';
import { StoreUnavailable } from '../book/book-store.ts';
import type {
  Change,
  ChangeCursor,
  ChangePage,
  ChangeRequest,
  ChangeType,
  CursorFault,
} from './book-history.ts';

/** What the logs of both engines have in common. */

/** The state of a log. */
interface LogState {
  /** Followers get the changes after this one: those up to it are no longer kept, or others before it were not recorded. */
  readonly start: ChangeCursor;
  /** The nonce of the change at the cursor of a request; undefined if the log does not have one at its position. */
  readonly nonceAtCursor: number | undefined;
}

/** Why changes cannot be read after, or before, a cursor. */
export function faultOf(
  { after, id, isOfDeleted }: ChangeRequest,
  { start, nonceAtCursor }: LogState,
): CursorFault | undefined {
  if (!after) return undefined;
  const isStart = after.position === start.position;
  const nonce = nonceAtCursor ?? (isStart ? start.nonce : undefined);
  if (nonce !== undefined && nonce !== after.nonce) return 'unknown';
  const isFollowed = id === undefined && !isOfDeleted;
  if (isFollowed && after.position < start.position) return 'removed';
  return nonce === undefined && after.position > start.position ? 'unknown' : undefined;
}

/** A change as an engine reads it. */
export interface ChangeRow extends Book, ChangeCursor {
  readonly type: ChangeType;
  readonly at: number;
  /** Whether it is one of the requested changes; 0 or 1 on SQLite. */
  readonly isRequested: boolean | number;
  /** As in {@link Change}; 0 or 1 on SQLite. */
  readonly hasGapAfter: boolean | number;
}

/** A page with more text, in UTF-16 code units, ends: a response must fit into the memory for what clients have not read. */
const PAGE_TEXT_MAX = 1_024 * 1_024;

/**
 * Makes a page of the first rows.
 *
 * @param empty the cursor for the next page if there are no rows
 */
export function toChangePage(rows: Iterable<ChangeRow>, empty: ChangeCursor | undefined): ChangePage {
  const changes: Change[] = [];
  let next = empty;
  let text = 0;
  for (const { position, nonce, isRequested, hasGapAfter, type, at, id, title, author, year } of rows) {
    const book = { id, title, author, year };
    text += title.length + author.length;
    if (next !== empty && text > PAGE_TEXT_MAX) break;
    const cursor = { position, nonce };
    next = cursor;
    if (isRequested) changes.push({ cursor, type, at, book, ...(hasGapAfter && { gapAfter: true }) });
  }
  return { changes, next };
}

/** Performs a batch of requests, equal ones once: all followers wait for the same change. */
export async function readChangePages(
  requests: readonly ChangeRequest[],
  read: (request: ChangeRequest) => Promise<ChangePage | CursorFault>,
): Promise<(ChangePage | CursorFault)[]> {
  const results = new Map<string, ChangePage | CursorFault>();
  for (const request of requests) {
    const key = JSON.stringify(request);
    if (!results.has(key)) results.set(key, await read(request));
  }
  return requests.map((request) => results.get(JSON.stringify(request)) as ChangePage | CursorFault);
}

/** The error while another process has turned the history off, or until what records the changes is put right. */
export function notRecorded(): StoreUnavailable {
  return new StoreUnavailable('changes are not recorded');
}
