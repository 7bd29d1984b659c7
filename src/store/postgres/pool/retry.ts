import { setTimeout as sleep } from 'node:timers/promises';
import { isSerializationFailure } from '../errors.ts';

const ATTEMPTS_MAX = 5;
/** The longest wait before the second attempt; each later one is longer by this time. */
const WAIT_MS = 10;

/** Retries after a random wait, so that the same transactions do not conflict again; on distributed servers reads may, too. */
export async function retry<Result>(
  attempt: () => Promise<Result>,
  isRetryable: (error: unknown) => boolean = isSerializationFailure,
): Promise<Result> {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (count === ATTEMPTS_MAX || !isRetryable(error)) throw error;
      await sleep(Math.random() * WAIT_MS * count);
    }
  }
}
