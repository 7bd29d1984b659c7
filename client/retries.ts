import { sleep } from './abort.ts';
import { NoResponseError } from './errors.ts';
import { isTemporary, type Send } from './exchange.ts';

/** Randomness and time. */
export interface Dependencies {
  /** A number from 0 to below 1. */
  readonly random: () => number;
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number;
  /** A clock that is never set, in milliseconds: durations are measured with it. */
  readonly monotonicNow: () => number;
}

export const DEPENDENCIES: Dependencies = {
  random: Math.random,
  sleep,
  now: Date.now,
  monotonicNow: () => performance.now(),
};

/** A longer `Retry-After` is left to the caller. */
const RETRY_AFTER_SECONDS_MAX = 30;

/** The longest wait before the second attempt; it doubles for each further attempt, up to a limit. */
const BACKOFF_MS = 250;
const BACKOFF_MS_MAX = 10_000;

/** Retries requests after no response or a temporary error: exponential backoff, full jitter, and `Retry-After` in addition. */
export function withRetries(send: Send, attemptsMax: number, dependencies: Dependencies): Send {
  return async (request, signal) => {
    let mayHaveHappened = false;
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt >= attemptsMax || !request.isRetryable;
      let waitMs = dependencies.random() * Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** (attempt - 1));
      try {
        const response = await send(request, signal);
        mayHaveHappened ||= response.mayHaveHappened;
        const { status, retryAfterSeconds = 0 } = response;
        const isRetried = isTemporary(status) && retryAfterSeconds <= RETRY_AFTER_SECONDS_MAX;
        if (isLast || !isRetried) return { ...response, mayHaveHappened };
        waitMs += retryAfterSeconds * 1_000;
      } catch (error) {
        if (isLast || !(error instanceof NoResponseError) || error.reason === 'unreadable') throw error;
        mayHaveHappened ||= request.isWrite;
      }
      await dependencies.sleep(waitMs, signal);
    }
  };
}
