import { type Book, type BookClient, BookkeepingError, RefusedError } from 'bookkeeping-client/index.ts';
import type { Batch } from './batches.ts';

interface ImportDependencies {
  readonly client: Pick<BookClient, 'createMany'>;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** The beginning of the idempotency keys, another one for each import. */
  readonly keyPrefix: string;
}

/** `waiting`: the service does not respond. */
export type Phase = 'sending' | 'waiting';

export interface ImportListener {
  readonly onPhase: (phase: Phase) => void;
  readonly onStored: (books: readonly Book[]) => void;
}

export type ImportEnd =
  | { readonly kind: 'done' }
  /** `unconfirmed` may or may not be stored. */
  | { readonly kind: 'cancelled'; readonly unconfirmed: Batch | undefined }
  /** The service has rejected the batch, and has stored none of its books. */
  | { readonly kind: 'rejected'; readonly error: RefusedError; readonly batch: Batch };

const RETRY_MS = 1_000;

/**
 * Stores batch after batch, each exactly once: all attempts of a batch have the same idempotency key, also those of an import that
 * continues after a cancellation.
 *
 * @param cancel ends the import after the current batch, or at once while it waits for the service
 * @throws the errors of `batches`, and `AbortError` when the user signs out
 */
export async function importBatches(
  batches: AsyncIterable<Batch>,
  { client, sleep, keyPrefix }: ImportDependencies,
  { onPhase, onStored }: ImportListener,
  cancel: AbortSignal,
): Promise<ImportEnd> {
  for await (const batch of batches) {
    let unconfirmed: Batch | undefined;
    for (;;) {
      if (cancel.aborted) return { kind: 'cancelled', unconfirmed };
      onPhase(unconfirmed ? 'waiting' : 'sending');
      try {
        onStored(await client.createMany(batch.books, { idempotencyKey: `${keyPrefix}-${batch.firstLine}` }));
        break;
      } catch (error) {
        if (!isRetryable(error)) {
          if (error instanceof RefusedError) return { kind: 'rejected', error, batch };
          throw error;
        }
        if (error.mayHaveHappened) unconfirmed = batch;
        onPhase('waiting');
        await sleep(RETRY_MS);
      }
    }
  }
  return { kind: 'done' };
}

function isRetryable(error: unknown): error is BookkeepingError {
  if (!(error instanceof BookkeepingError)) return false;
  return !(error instanceof RefusedError) || error.status === 429 || error.status >= 500;
}
