import { setTimeout as sleep } from 'node:timers/promises';
import { isSerializationFailure } from '../errors.ts';

/** How often something is tried that loses against concurrent transactions. */
const ATTEMPTS_MAX = 5;

/** The longest wait before the second attempt; before each later one it is that much longer. */
const WAIT_MS = 10;

/**
 * Tries again what lost against concurrent transactions (SQLSTATE 40001 and 40P01), of which nothing has happened,
 * after a wait by chance, so that the same ones do not meet again. Engines that are distributed have it happen to
 * reads, too.
 *
 * @param attempt a statement, or a whole transaction
 * @param isWorthwhile whether an error leaves anything to hope for
 * @throws what the last attempt throws
 */
export async function retry<Result>(
  attempt: () => Promise<Result>,
  isWorthwhile: (error: unknown) => boolean = isSerializationFailure,
): Promise<Result> {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (count === ATTEMPTS_MAX || !isWorthwhile(error)) throw error;
      await sleep(Math.random() * WAIT_MS * count);
    }
  }
}
