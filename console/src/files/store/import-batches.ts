import { type Book, type BookClient, BookkeepingError, RefusedError } from '../../../../src/client/index.ts';
import { keyOf } from '../../../../src/formats/equal-books.ts';
import type { Batch } from './batches.ts';
import { decrement, increment, PAGE_BOOKS } from './existing-books.ts';

export interface ImportDependencies {
  readonly client: Pick<BookClient, 'list' | 'createMany'>;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly now: () => number;
}

/** `waiting`: the service does not respond; `unconfirmed`: the import searches for a batch that may have been stored. */
export type Phase = 'sending' | 'waiting' | 'unconfirmed';

export interface ImportListener {
  readonly onPhase: (phase: Phase) => void;
  /** `count` more books are stored; `books` are those that no other user has changed since. */
  readonly onStored: (count: number, books: readonly Book[]) => void;
}

export type ImportEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'cancelled'; readonly unconfirmed: UnconfirmedBatch | undefined }
  /** The service has rejected the batch, and has stored none of its books. */
  | { readonly kind: 'rejected'; readonly error: RefusedError; readonly batch: Batch };

/** A batch that may have been stored: its response was lost. */
export interface UnconfirmedBatch {
  readonly batch: Batch;
  /** An id below those that its books would have. */
  readonly afterId: number;
}

const RETRY_MS = 1_000;

/**
 * How long a batch without a response may still be stored after the service responds again: the timeout of an engine is
 * 10 seconds (PostgreSQL) or 5 (SQLite, while another process writes).
 */
export const CONFIRMATION_MS = 15_000;

/**
 * Stores batch after batch, each exactly once. A batch is sent again only when it is certainly not stored: the response says
 * so, or its books have not appeared within {@link CONFIRMATION_MS}.
 *
 * @param cancel ends the import after the current batch, or at once while it waits for the service
 * @param unconfirmed the first batch, if an earlier import ended before it was confirmed
 * @throws the errors of `batches`, and `AbortError` when the user signs out
 */
export async function importBatches(
  batches: AsyncIterable<Batch>,
  { client, sleep, now }: ImportDependencies,
  { onPhase, onStored }: ImportListener,
  cancel: AbortSignal,
  unconfirmed?: UnconfirmedBatch,
): Promise<ImportEnd> {
  /** The highest id before the next batch; undefined when it has to be requested. */
  let highestId: number | undefined;
  let respondsSince: number | undefined;

  /** Repeats a request until the service responds. @returns undefined when the import is cancelled */
  async function retry<Result>(request: () => Promise<Result>): Promise<Result | undefined> {
    while (!cancel.aborted) {
      try {
        return await request();
      } catch (error) {
        if (!isRetryable(error)) throw error;
        respondsSince = undefined;
        onPhase('waiting');
        await sleep(RETRY_MS);
      }
    }
    return undefined;
  }

  /** @returns the stored books of the batch, or none; undefined when the import is cancelled */
  async function confirm(batch: Batch, afterId: number): Promise<readonly Book[] | undefined> {
    respondsSince = undefined;
    while (!cancel.aborted) {
      const found = await retry(() => findStored(batch, afterId, client));
      if (found && found.length > 0) return found;
      respondsSince ??= now();
      if (now() - respondsSince >= CONFIRMATION_MS) return cancel.aborted ? undefined : [];
      onPhase('unconfirmed');
      await sleep(RETRY_MS);
    }
    return undefined;
  }

  let afterId = unconfirmed?.afterId;
  for await (const batch of batches) {
    let stored: readonly Book[] | undefined;
    while (!stored) {
      if (afterId !== undefined) {
        const found = await confirm(batch, afterId);
        if (!found) return { kind: 'cancelled', unconfirmed: { batch, afterId } };
        afterId = undefined;
        if (found.length > 0) stored = found;
        continue;
      }
      highestId ??= await retry(() => findHighestId(client));
      if (cancel.aborted || highestId === undefined) return { kind: 'cancelled', unconfirmed: undefined };
      onPhase('sending');
      try {
        stored = await client.createMany(batch.books);
        highestId = Math.max(highestId, ...stored.map(({ id }) => id));
      } catch (error) {
        if (!isRetryable(error)) {
          if (error instanceof RefusedError) return { kind: 'rejected', error, batch };
          throw error;
        }
        onPhase('waiting');
        if (error.mayHaveHappened) afterId = highestId;
        else await sleep(RETRY_MS);
        highestId = undefined;
      }
    }
    onStored(batch.books.length, stored);
  }
  return { kind: 'done' };
}

function isRetryable(error: unknown): error is BookkeepingError {
  if (!(error instanceof BookkeepingError)) return false;
  return !(error instanceof RefusedError) || error.status === 429 || error.status >= 500;
}

async function findHighestId(client: Pick<BookClient, 'list'>): Promise<number> {
  for await (const { id } of client.list({ sort: '-id', limit: 1 })) return id;
  return 0;
}

/**
 * Searches for the books of a batch among those with an id above `afterId`. A batch is stored as a whole or not at all,
 * so it is stored if most of its books are found: other users may have changed or deleted some.
 */
async function findStored(
  { books }: Batch,
  afterId: number,
  client: Pick<BookClient, 'list'>,
): Promise<readonly Book[]> {
  const expected = new Map<string, number>();
  for (const book of books) increment(expected, keyOf(book));
  const found: Book[] = [];
  for await (const book of client.list({ sort: '-id', limit: PAGE_BOOKS })) {
    if (book.id <= afterId) break;
    if (decrement(expected, keyOf(book))) found.push(book);
  }
  return found.length > books.length / 2 ? found : [];
}
