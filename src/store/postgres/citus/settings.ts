/** Settings of each session: one connection to each server takes the least work for a short statement on several shards. */
export const CITUS_SETTINGS = { 'citus.max_adaptive_executor_pool_size': 1 };
