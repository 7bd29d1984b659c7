import { type Book, type BookClient, BookkeepingError, RefusedError } from '../../../../src/client/index.ts';
import type { Batch } from './batches.ts';
import { decrement, increment, keyOf, PAGE_BOOKS } from './known-books.ts';

export interface ImportDependencies {
  readonly client: Pick<BookClient, 'list' | 'createMany'>;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly now: () => number;
}

/** `away`: waiting for the service; `unconfirmed`: searching for a batch that may have been stored. */
export type Phase = 'sending' | 'away' | 'unconfirmed';

export interface ImportListener {
  readonly onPhase: (phase: Phase) => void;
  /** `count` more books are stored; `books` are those that no other user has changed since. */
  readonly onStored: (count: number, books: readonly Book[]) => void;
}

export type ImportEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'cancelled'; readonly unconfirmed: UnconfirmedBatch | undefined }
  /** The service has rejected a batch, and has stored nothing of it. */
  | { readonly kind: 'refused'; readonly error: RefusedError; readonly batch: Batch };

/** A batch that may have been stored, as its response was lost. */
export interface UnconfirmedBatch {
  readonly batch: Batch;
  /** An id below those that its books would have. */
  readonly above: number;
}

const RETRY_MS = 1_000;

/**
 * How long a batch without a response may still be stored once the service responds again: an engine has 10 seconds
 * (PostgreSQL) or 5 (SQLite, while another program writes).
 */
export const SETTLING_MS = 15_000;

/**
 * Stores books batch after batch, each exactly once. A batch is sent again only when it is certainly not stored: the service
 * has said so, or its books have not appeared within {@link SETTLING_MS}.
 *
 * @param cancel ends the import after the current batch, and waiting for the service at once
 * @param unconfirmed that of an earlier import, if it is the first batch of this one
 * @throws what reading the batches throws, and `AbortError` when the user signs out
 */
export async function importBatches(
  batches: AsyncIterable<Batch>,
  { client, sleep, now }: ImportDependencies,
  { onPhase, onStored }: ImportListener,
  cancel: AbortSignal,
  unconfirmed?: UnconfirmedBatch,
): Promise<ImportEnd> {
  /** The highest id before the next batch; undefined when it has to be requested. */
  let highest: number | undefined;
  let respondsSince: number | undefined;

  /** Repeats a request until the service responds. @returns undefined when the import is cancelled */
  async function retry<Result>(request: () => Promise<Result>): Promise<Result | undefined> {
    while (!cancel.aborted) {
      try {
        return await request();
      } catch (error) {
        if (!isRetryable(error)) throw error;
        respondsSince = undefined;
        onPhase('away');
        await sleep(RETRY_MS);
      }
    }
    return undefined;
  }

  /** @returns the stored books of the batch, or none; undefined when the import is cancelled */
  async function confirm(batch: Batch, above: number): Promise<readonly Book[] | undefined> {
    respondsSince = undefined;
    while (!cancel.aborted) {
      const found = await retry(() => findStored(batch, above, client));
      if (found && found.length > 0) return found;
      respondsSince ??= now();
      if (now() - respondsSince >= SETTLING_MS) return cancel.aborted ? undefined : [];
      onPhase('unconfirmed');
      await sleep(RETRY_MS);
    }
    return undefined;
  }

  let above = unconfirmed?.above;
  for await (const batch of batches) {
    let stored: readonly Book[] | undefined;
    while (!stored) {
      if (above !== undefined) {
        const found = await confirm(batch, above);
        if (!found) return { kind: 'cancelled', unconfirmed: { batch, above } };
        above = undefined;
        if (found.length > 0) stored = found;
        continue;
      }
      highest ??= await retry(() => highestId(client));
      if (cancel.aborted || highest === undefined) return { kind: 'cancelled', unconfirmed: undefined };
      onPhase('sending');
      try {
        stored = await client.createMany(batch.books);
        highest = Math.max(highest, ...stored.map(({ id }) => id));
      } catch (error) {
        if (!isRetryable(error)) {
          if (error instanceof RefusedError) return { kind: 'refused', error, batch };
          throw error;
        }
        onPhase('away');
        if (error.mayHaveHappened) above = highest;
        else await sleep(RETRY_MS);
        highest = undefined;
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

async function highestId(client: Pick<BookClient, 'list'>): Promise<number> {
  for await (const { id } of client.list({ sort: '-id', limit: 1 })) return id;
  return 0;
}

/**
 * Searches for the books of a batch among those with an id above `above`. As a batch is stored as a whole or not at all, it
 * is stored when most of its books are found: other users may have changed or deleted some.
 */
async function findStored(
  { books }: Batch,
  above: number,
  client: Pick<BookClient, 'list'>,
): Promise<readonly Book[]> {
  const wanted = new Map<string, number>();
  for (const book of books) increment(wanted, keyOf(book));
  const found: Book[] = [];
  for await (const book of client.list({ sort: '-id', limit: PAGE_BOOKS })) {
    if (book.id <= above) break;
    if (decrement(wanted, keyOf(book))) found.push(book);
  }
  return found.length > books.length / 2 ? found : [];
}
