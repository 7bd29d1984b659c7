/**
 * The base of all errors of the client, but for the reason of an aborted signal and `TypeError` for invalid arguments.
 */
export abstract class BookkeepingError extends Error {
  /**
   * Whether the call may have changed books: a write without a response or with 5xx, in this attempt or an earlier one. If
   * it is false, nothing has changed.
   */
  readonly mayHaveHappened: boolean;

  protected constructor(message: string, mayHaveHappened: boolean, options?: ErrorOptions) {
    super(message, options);
    this.mayHaveHappened = mayHaveHappened;
  }
}

/** The service has responded with an error. `message` is the one of the response; the README of the service lists them. */
export class RefusedError extends BookkeepingError {
  override readonly name = 'RefusedError';
  /** The HTTP status code (RFC 9110, section 15). */
  readonly status: number;
  /** The value of `Retry-After`, with 429 and 503. */
  readonly retryAfterSeconds: number | undefined;
  /** The index of the first invalid book, with 400 of `createMany`. */
  readonly invalidIndex: number | undefined;

  constructor(response: Refusal) {
    super(response.message, response.mayHaveHappened);
    this.status = response.status;
    this.retryAfterSeconds = response.retryAfterSeconds;
    this.invalidIndex = response.invalidIndex;
  }
}

/** The content of a {@link RefusedError}. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly mayHaveHappened: boolean;
  readonly retryAfterSeconds: number | undefined;
  readonly invalidIndex: number | undefined;
}

/** There was no response of the service. `cause` is the error of `fetch`, if there is one. */
export class NoAnswerError extends BookkeepingError {
  override readonly name = 'NoAnswerError';
  /**
   * - `network`: the service is unreachable, the connection broke, or a browser may not read the response (CORS);
   * - `timeout`: the response did not arrive in time;
   * - `unreadable`: the response is not one of this service; the URL may be wrong.
   */
  readonly reason: NoAnswerReason;

  constructor(request: string, reason: NoAnswerReason, mayHaveHappened: boolean, cause?: unknown) {
    super(`${request}: ${MESSAGES[reason]}`, mayHaveHappened, { cause });
    this.reason = reason;
  }
}

type NoAnswerReason = 'network' | 'timeout' | 'unreadable';

const MESSAGES: Readonly<Record<NoAnswerReason, string>> = {
  network: 'the service is unreachable, or the connection broke',
  timeout: 'no response within the timeout',
  unreadable: 'the response is not one of this service',
};
