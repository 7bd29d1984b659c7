import { sleep } from './abort.ts';
import { NoAnswerError } from './client-errors.ts';
import type { Send } from './exchange.ts';

/** What retries need of the world around; tests bring their own. */
export interface Patience {
  /** A number from 0 to below 1. */
  readonly random: () => number;
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

/** Chance and time as they are. */
export const PATIENCE: Patience = { random: Math.random, sleep };

/** A service that wants to be left alone for longer is not waited for: its refusal tells the caller when to come back. */
const RETRY_AFTER_SECONDS_MAX = 30;

/** The longest wait before the second attempt; it doubles from attempt to attempt, … */
const BACKOFF_MS = 250;

/** … up to this. */
const BACKOFF_MS_MAX = 10_000;

/** Busy or away for a while, by the service itself or by a proxy in front of it. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Makes what sends again what may be sent again, as long as it is not answered or refused for the moment only. Waits
 * in between are exponential with full jitter, on top of what the service asks for in `Retry-After`.
 *
 * @param send sends a call once
 * @param attemptsMax how often a call is sent at most, the first time included
 */
export function retrying(send: Send, attemptsMax: number, patience: Patience): Send {
  return async (call, signal) => {
    let isInDoubt = false;
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt >= attemptsMax || !call.isRepeatable;
      let waitMs = patience.random() * Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** (attempt - 1));
      try {
        const answer = await send(call, signal);
        isInDoubt ||= answer.isInDoubt;
        const { retryAfterSeconds = 0 } = answer;
        if (isLast || !PASSING_STATUSES.has(answer.status) || retryAfterSeconds > RETRY_AFTER_SECONDS_MAX) {
          return { ...answer, isInDoubt };
        }
        waitMs += retryAfterSeconds * 1_000;
      } catch (error) {
        if (isLast || !(error instanceof NoAnswerError) || error.reason === 'unreadable') throw error;
        isInDoubt ||= call.isWrite;
      }
      await patience.sleep(waitMs, signal);
    }
  };
}
