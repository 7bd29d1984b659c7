/** What one client may take of the service. */
export interface HttpLimits {
  /** The longest body that is read. */
  readonly bodyBytes: number;
  /** How long the head of a request may take to arrive. */
  readonly headersMs: number;
  /** How long a whole request may take to arrive. */
  readonly requestMs: number;
  /** How long a connection may stand still, an answer that its client does not read among them. */
  readonly idleMs: number;
  /** How often the three are looked at. */
  readonly checkingIntervalMs: number;
}

export const HTTP_LIMITS: HttpLimits = {
  bodyBytes: 1_024 * 1_024,
  headersMs: 10_000,
  requestMs: 30_000,
  idleMs: 30_000,
  checkingIntervalMs: 1_000,
};
