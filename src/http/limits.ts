/** What clients may take of the service. */
export interface HttpLimits {
  /** The longest body that is read. */
  readonly bodyBytes: number;
  /** What all long bodies that are under way may hold together; one more is refused. */
  readonly bodyBytesAtOnce: number;
  /** What all lists and long books that their clients have not read yet may hold together; one more is refused. */
  readonly unreadBytesAtOnce: number;
  /** How long the head of a request may take to arrive. */
  readonly headersMs: number;
  /** How long a whole request may take to arrive. */
  readonly requestMs: number;
  /** How long a client may wait for the response to its search to begin, and then for the next books. */
  readonly searchMs: number;
  /** How long a client may take to read the next part of its answer, or stand still in its request. */
  readonly stallMs: number;
  /** How long a connection may stay open without a request. */
  readonly idleMs: number;
  /** How often the times of requests are looked at: the more often, the fewer are refused in one turn. */
  readonly checkingIntervalMs: number;
  /** How many connections there may be; who comes then is refused. */
  readonly connections: number;
  /** How many connections beyond that may be open until their 503 is sent; more are closed without a response. */
  readonly refusedConnections: number;
  /** How long, at a stop, all goes on as before, but that the service says it is not ready. */
  readonly stopDelayMs: number;
  /** How long, after that, connections without a request get to send one more. */
  readonly graceMs: number;
  /** How long, from the same moment on, a stop waits for clients; who has not got an answer by then is cut off. */
  readonly drainMs: number;
}

/** The longest body that is read, … */
export const BODY_BYTES_MAX = 1_024 * 1_024;

/** … and the longest one with many books. */
export const BOOKS_BYTES_MAX = 16 * BODY_BYTES_MAX;

/** What operators do not choose. */
export const FIXED_LIMITS = {
  bodyBytes: BODY_BYTES_MAX,
  // With the limits of batches (src/store/limits.ts) this keeps a process below 512 MiB (the campaign `memory`).
  bodyBytesAtOnce: 32 * 1_024 * 1_024,
  unreadBytesAtOnce: 32 * 1_024 * 1_024,
  refusedConnections: 1_000,
  idleMs: 72_000,
  searchMs: 10_000,
  checkingIntervalMs: 200,
  graceMs: 1_000,
  drainMs: 3_500,
} as const satisfies Partial<HttpLimits>;
