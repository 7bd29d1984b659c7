import type { Book } from '../book/book.ts';
import { StoreUnavailable } from '../book/book-store.ts';
import { faultOfFollower, type LogPlace } from '../store/log-position.ts';
import type {
  Change,
  ChangeCursor,
  ChangePage,
  ChangeRequest,
  ChangeType,
  CursorFault,
} from './book-history.ts';

/** What the logs of both engines have in common. */

/** Why changes cannot be read after, or before, a cursor. @param place what the log has at its position */
export function faultOf(request: ChangeRequest, place: LogPlace): CursorFault | undefined {
  const fault = request.after && faultOfFollower(request.after, place);
  // What is read before a cursor needs no change after it.
  return fault === 'removed' && !isForFollowers(request) ? undefined : fault;
}

/** Whether changes are read in the order of commits, in which none may be missed. */
export function isForFollowers({ of }: ChangeRequest): boolean {
  return of === undefined;
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

/**
 * A page with more text, in UTF-16 code units, ends. A response must fit into the 32 MiB for what clients have not read, and may have
 * six bytes for a unit: 1,000 changes of books as long as a request may have them are up to 49 MB.
 */
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

/** The error while another process has turned the history off. */
export function notRecorded(): StoreUnavailable {
  return new StoreUnavailable('changes are not recorded');
}
