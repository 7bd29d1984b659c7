import { StoreUnavailable } from '../../../book/book-store.ts';
import type { RunBatch } from '../../batch-queue.ts';

/** Runs each item of a batch by itself, at the same time as the others. */
export function runAlone<Item, Result>(run: RunBatch<Item, Result>): RunBatch<Item, Result> {
  return async (items) => {
    const runs = items.map((item) => run([item]).catch((error: Error) => [error]));
    const results = (await Promise.all(runs)).flat();
    // Without the coordinator, the calls that wait must not wait for its timeouts, too.
    const failure = results.find((result) => result instanceof StoreUnavailable && !isOfWorker(result));
    if (failure) throw failure;
    return results;
  };
}

/** Runs a batch that changes nothing, and if a worker is unavailable, each of its items by itself. */
export function runTogether<Item, Result>(run: RunBatch<Item, Result>): RunBatch<Item, Result> {
  return async (items) => {
    try {
      return await run(items);
    } catch (error) {
      if (!isOfWorker(error)) throw error;
      return runAlone(run)(items);
    }
  };
}

/** Whether the coordinator could not reach a worker. */
function isOfWorker(error: unknown): boolean {
  return error instanceof StoreUnavailable && error.reason.startsWith('08');
}
