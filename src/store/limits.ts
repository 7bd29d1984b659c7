/** Limits of each kind of call. */
export const BATCH_LIMITS = { batchItemsMax: 1_000, queueItemsMax: 10_000 };

/** The interval at which old keys and changes are removed, and the most in one step, as other writes may wait for it. */
export const REMOVAL_MS = 60_000;
export const REMOVAL_MAX = 500;
/** A step ends, too, with the key of which it has removed so many bytes. */
export const REMOVAL_BYTES = 16 * 1_024 * 1_024;
