import { type Book, type BookClient, BookkeepingError, RefusedError } from '../../../../src/client/index.ts';
import type { Batch } from './batches.ts';
import { findStored, highestId } from './find-stored.ts';

/** What an import needs of the world around; tests bring their own. */
export interface ImportSurroundings {
  readonly client: Pick<BookClient, 'list' | 'createMany'>;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** In milliseconds, from whenever. */
  readonly now: () => number;
}

/** What an import is doing: sending, or waiting for a service that is away, or for one to be done with a batch. */
export type Phase = 'sending' | 'away' | 'doubt';

/** How an import tells how it goes on. */
export interface ImportListener {
  readonly onPhase: (phase: Phase) => void;
  /** So many more books are stored, and this is what the service has made of them, where others have left them alone. */
  readonly onStored: (count: number, books: readonly Book[]) => void;
}

/** How an import has ended. */
export type ImportEnd =
  | { readonly kind: 'done' }
  /** A person wanted it so. */
  | { readonly kind: 'cancelled'; readonly doubt: Doubt | undefined }
  /** The service refuses a batch, and has stored nothing of it. */
  | { readonly kind: 'refused'; readonly error: RefusedError; readonly batch: Batch };

/** Nobody knows yet whether a batch has been stored, because no answer came. */
export interface Doubt {
  readonly batch: Batch;
  /** An id below those that its books would have. */
  readonly above: number;
}

/** How long to wait before asking again whether a service that was away is back. */
const RETRY_MS = 1_000;

/**
 * How long a batch may still be stored whose answer got lost, once the service answers again: an engine is given 10 seconds
 * for it (PostgreSQL) or 5 (SQLite, while another program writes). A service that was stopped cannot store it any more, but
 * from here that looks the same.
 */
export const SETTLING_MS = 15_000;

/**
 * Stores books batch after batch, each once. A batch is sent again only when it is certain that it has not been stored: the
 * service has said so, or it answers again and the books have not come to light for longer than storing them may take.
 *
 * @param doubt what an earlier import of the same batches has left open about the first of them
 * @param cancel the batch under way is waited for, what waits for the service is not
 * @throws what reading the batches throws, and `AbortError` when somebody signs out
 */
export async function importBatches(
  batches: AsyncIterable<Batch>,
  { client, sleep, now }: ImportSurroundings,
  { onPhase, onStored }: ImportListener,
  cancel: AbortSignal,
  doubt?: Doubt,
): Promise<ImportEnd> {
  /** The highest id known to be given before the next batch; undefined when it has to be asked for. */
  let highest: number | undefined;
  /** Since when the service has answered every question. */
  let answersSince: number | undefined;

  /** Asks until the service answers. @returns undefined when the import is cancelled meanwhile */
  async function ask<Result>(question: () => Promise<Result>): Promise<Result | undefined> {
    while (!cancel.aborted) {
      try {
        return await question();
      } catch (error) {
        if (!isPassing(error)) throw error;
        answersSince = undefined;
        onPhase('away');
        await sleep(RETRY_MS);
      }
    }
    return undefined;
  }

  /** @returns the books of the batch, none where it is not stored; undefined when the import is cancelled before */
  async function storedBooks(batch: Batch, above: number): Promise<readonly Book[] | undefined> {
    answersSince = undefined;
    while (!cancel.aborted) {
      const found = await ask(() => findStored(batch, above, client));
      if (found && found.length > 0) return found;
      answersSince ??= now();
      if (now() - answersSince >= SETTLING_MS) return cancel.aborted ? undefined : [];
      onPhase('doubt');
      await sleep(RETRY_MS);
    }
    return undefined;
  }

  let above = doubt?.above;
  for await (const batch of batches) {
    let stored: readonly Book[] | undefined;
    while (!stored) {
      if (above !== undefined) {
        const found = await storedBooks(batch, above);
        if (!found) return { kind: 'cancelled', doubt: { batch, above } };
        above = undefined;
        if (found.length > 0) stored = found;
        continue;
      }
      highest ??= await ask(() => highestId(client));
      if (cancel.aborted || highest === undefined) return { kind: 'cancelled', doubt: undefined };
      onPhase('sending');
      try {
        stored = await client.createMany(batch.books);
        highest = Math.max(highest, ...stored.map(({ id }) => id));
      } catch (error) {
        if (!isPassing(error)) {
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

/** Whether a call may go better later: it was not answered, or the service is busy or broken for a while. */
function isPassing(error: unknown): error is BookkeepingError {
  if (!(error instanceof BookkeepingError)) return false;
  return !(error instanceof RefusedError) || error.status === 429 || error.status >= 500;
}
