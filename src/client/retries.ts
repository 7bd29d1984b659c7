import { sleep } from './abort.ts';
import { NoAnswerError } from './client-errors.ts';
import type { Send } from './exchange.ts';

/** Randomness and time, which tests replace. */
export interface RetryTiming {
  /** A number from 0 to below 1. */
  readonly random: () => number;
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

export const RETRY_TIMING: RetryTiming = { random: Math.random, sleep };

/** With a longer `Retry-After`, the error is thrown: it tells the caller when to retry. */
const RETRY_AFTER_SECONDS_MAX = 30;

/** The longest wait before the second attempt; it doubles for each attempt, … */
const BACKOFF_MS = 250;

/** … up to this. */
const BACKOFF_MS_MAX = 10_000;

/** Temporary errors of the service, or of a proxy in front of it. */
const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Retries retryable calls that get no response or a temporary error. The waits are exponential with full jitter, in
 * addition to `Retry-After`.
 *
 * @param send sends a call once
 * @param attemptsMax including the first attempt
 */
export function withRetries(send: Send, attemptsMax: number, timing: RetryTiming): Send {
  return async (call, signal) => {
    let mayHaveHappened = false;
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt >= attemptsMax || !call.isRetryable;
      let waitMs = timing.random() * Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** (attempt - 1));
      try {
        const response = await send(call, signal);
        mayHaveHappened ||= response.mayHaveHappened;
        const { retryAfterSeconds = 0 } = response;
        if (
          isLast ||
          !RETRYABLE_STATUSES.has(response.status) ||
          retryAfterSeconds > RETRY_AFTER_SECONDS_MAX
        ) {
          return { ...response, mayHaveHappened };
        }
        waitMs += retryAfterSeconds * 1_000;
      } catch (error) {
        if (isLast || !(error instanceof NoAnswerError) || error.reason === 'unreadable') throw error;
        mayHaveHappened ||= call.isWrite;
      }
      await timing.sleep(waitMs, signal);
    }
  };
}
