/** The place after a change in a log of changes. */
export interface LogPosition {
  /** Increases from change to change. */
  readonly position: number;
  /**
   * A random number of the change, below 2^53. A log with another change at this position, for example that of a copy of the
   * store, has another number there.
   */
  readonly nonce: number;
}

/** What a log has at the position of a follower. */
export interface LogPlace {
  /** Followers get the changes after this one: those up to it are no longer kept, or others before it were not recorded. */
  readonly start: LogPosition;
  /** The random number of the change at the position of the follower; undefined if the log has none there. */
  readonly nonce: number | undefined;
}

/**
 * Why a follower cannot go on after the last change that it has: changes after it are `removed`, or were not recorded; or the log
 * does not have this change, and it is `unknown`.
 */
export type FollowerFault = 'removed' | 'unknown';

/**
 * Example: the log begins after change 40, and has change 50 with the number 7. A follower at 30 has missed changes; one at 50 with the
 * number 8 has followed another log; one at 40 goes on if it has the number that the log keeps of its start.
 */
export function faultOfFollower(
  follower: LogPosition,
  { start, nonce }: LogPlace,
): FollowerFault | undefined {
  const found = nonce ?? (follower.position === start.position ? start.nonce : undefined);
  if (found !== undefined && found !== follower.nonce) return 'unknown';
  if (follower.position < start.position) return 'removed';
  return found === undefined ? 'unknown' : undefined;
}
