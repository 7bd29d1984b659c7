import { StoreUnavailable } from '../book/book-store.ts';
import { type Book, fieldsOf, TEXT_NAMES } from '../book/contract.ts';
import { faultOfFollower, type LogPlace } from '../changes/log-position.ts';
import { NOTHING_CHANGES } from '../store/batch-queue.ts';
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

/** The length of a page of several changes as JSON, in which a control character has six bytes. */
export const CHANGES_BYTES_MAX = 1_024 * 1_024;

/** The length of the texts of a book as JSON. */
export function textBytesOf(book: Book): number {
  return Buffer.byteLength(JSON.stringify(TEXT_NAMES.map((name) => book[name])));
}

/** What a change has besides the texts of its book. */
const CHANGE_BYTES = 200;

/**
 * Makes a page of the first rows.
 *
 * @param empty the cursor for the next page if there are no rows
 */
export function toChangePage(rows: Iterable<ChangeRow>, empty: ChangeCursor | undefined): ChangePage {
  const changes: Change[] = [];
  let next = empty;
  let bytes = 0;
  for (const row of rows) {
    const { position, nonce, isRequested, hasGapAfter, type, at } = row;
    const book = { id: row.id, ...fieldsOf(row) };
    bytes += CHANGE_BYTES + textBytesOf(row);
    if (next !== empty && bytes > CHANGES_BYTES_MAX) break;
    const cursor = { position, nonce };
    next = cursor;
    if (isRequested) changes.push({ cursor, type, at, book, ...(hasGapAfter && { gapAfter: true }) });
  }
  return { changes, next };
}

/** The options of the queue of reads. A batch has equal requests, as all followers wait for the same change: others have another page. */
export const READ_BATCHES = {
  isUndone: NOTHING_CHANGES,
  joining: () => {
    let first: string | undefined;
    return (request: ChangeRequest) => {
      const key = JSON.stringify(request);
      first ??= key;
      return key === first;
    };
  },
  name: 'changes',
};

/** Runs a batch of equal requests. */
export async function readOnce<Result>(
  requests: readonly ChangeRequest[],
  read: (request: ChangeRequest) => Promise<Result>,
): Promise<Result[]> {
  const page = await read(requests[0] as ChangeRequest);
  return requests.map(() => page);
}

/** The error while another process has turned the history off. */
export function notRecorded(): StoreUnavailable {
  return new StoreUnavailable('changes are not recorded');
}
