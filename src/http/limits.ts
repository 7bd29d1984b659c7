/** The limits of what clients may use. Times are in milliseconds. */
export interface HttpLimits {
  /** The memory of all long request bodies behind a token that are being read or processed; a further one is rejected. */
  readonly bodyBytesAtOnce: number;
  /** The same for bodies of `POST /token`: a stranger can fill this memory, and affects no body behind a token. */
  readonly loginBytesAtOnce: number;
  /** The failed logins from a network within a minute: enough for typing errors, too few for guessing. */
  readonly failedLogins: number;
  /** The memory of all long responses that clients have not read yet; a further one is rejected. */
  readonly unreadBytesAtOnce: number;
  /** The pipelined requests of all connections that are not routed yet; a further one is rejected. Each takes 3 KB, and 10 µs to parse. */
  readonly waitingRequests: number;
  /** The time for the headers of a request, and for a whole request, to arrive. */
  readonly headersMs: number;
  readonly requestMs: number;
  /** The time until the response to a search begins, and then until its next part. */
  readonly searchMs: number;
  /** The longest wait of a request for many books for others; afterwards, its connection is closed soon. */
  readonly waitMs: number;
  /** The time for a client to read the next part of its response, or to send the next part of its request. */
  readonly stallMs: number;
  /** The time that a connection may stay open without a request. */
  readonly idleMs: number;
  /** The interval of checking `headersMs` and `requestMs`: a shorter one rejects fewer requests at once. */
  readonly checkingIntervalMs: number;
  /** The number of connections; further ones are rejected. */
  readonly connections: number;
  /** The number of further connections that stay open until their 503 is sent; others are closed without a response. */
  readonly rejectedConnections: number;
  /** The time after SIGTERM during which everything is served as before, except that `GET /readyz` is 503. */
  readonly stopDelayMs: number;
  /** The time after `stopDelayMs` for idle connections to send one more request. */
  readonly graceMs: number;
  /** The time after `stopDelayMs` for requests to get their responses; then their connections are destroyed. */
  readonly drainMs: number;
}

/** The limits that operators do not choose. */
export const FIXED_LIMITS = {
  // With the limits of batches (src/store/limits.ts) this keeps a process below 512 MiB (the campaign `memory`).
  bodyBytesAtOnce: 32 * 1_024 * 1_024,
  loginBytesAtOnce: 2 * 1_024 * 1_024,
  failedLogins: 100,
  unreadBytesAtOnce: 32 * 1_024 * 1_024,
  waitingRequests: 1_000,
  rejectedConnections: 1_000,
  idleMs: 72_000,
  searchMs: 10_000,
  waitMs: 10_000,
  checkingIntervalMs: 200,
  graceMs: 1_000,
  drainMs: 3_500,
} as const satisfies Partial<HttpLimits>;

/** The pipelined requests of a connection that are not routed yet; honest clients send some dozens at once. */
export const WAITING_REQUESTS_MAX = 100;

/** The limits of reading and discarding a rejected body, so that a client that is still sending gets its response. */
export const DISCARDED_BYTES_MAX = 16 * 1_024 * 1_024;
export const DISCARD_TIMEOUT_MS = 5_000;

/** The time for a client to stop sending after its last response, so that it can read the response. */
export const LINGER_MS = 2_000;
