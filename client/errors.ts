/** The base of all errors of the client, except the reason of an aborted signal and `TypeError` for invalid arguments. */
export abstract class BookkeepingError extends Error {
  /**
   * Whether the call may have changed books: a write without a response or with 5xx, in any of its attempts. If false,
   * nothing has changed.
   */
  readonly mayHaveHappened: boolean;

  protected constructor(message: string, mayHaveHappened: boolean, options?: ErrorOptions) {
    super(message, options);
    this.mayHaveHappened = mayHaveHappened;
  }
}

/** The service has responded with an error; `message` is the one of the response (see docs/api.md of the service). */
export class RefusedError extends BookkeepingError {
  override readonly name = 'RefusedError';
  readonly method: string;
  /** The path of the request with its query, relative to the URL of the service. */
  readonly path: string;
  /** The HTTP status code (RFC 9110, section 15). */
  readonly status: number;
  /** The value of `Retry-After`, with 429 and 503. */
  readonly retryAfterSeconds: number | undefined;
  /** What is wrong with the request, for developers: the header `Error-Detail`. */
  readonly detail: string | undefined;
  /** The index of the first book at fault, with 400, 404 and 412 of `createMany` and `updateMany`. */
  readonly invalidIndex: number | undefined;
  /** The id of the request in the log of the service: the header `X-Request-Id`. */
  readonly requestId: string | undefined;

  constructor(response: ErrorResponse) {
    super(response.message, response.mayHaveHappened);
    this.method = response.method;
    this.path = response.path;
    this.status = response.status;
    this.retryAfterSeconds = response.retryAfterSeconds;
    this.detail = response.detail;
    this.invalidIndex = response.invalidIndex;
    this.requestId = response.requestId;
  }
}

/** The parts of a response in a {@link RefusedError}. */
export type ErrorResponse = Omit<RefusedError, keyof Error> & { readonly message: string };

/** The changes after a cursor are no longer kept: read the list again. */
export class ChangesRemovedError extends BookkeepingError {
  override readonly name = 'ChangesRemovedError';

  constructor({ message }: ErrorResponse) {
    super(message, false);
  }
}

/** There was no response of the service. `cause` is the error of `fetch`, if there is one. */
export class NoResponseError extends BookkeepingError {
  override readonly name = 'NoResponseError';
  /**
   * - `network`: the service is unreachable, the connection broke, or a browser may not read the response (CORS);
   * - `timeout`: the response did not arrive in time;
   * - `unreadable`: the response is not one of this service; the URL may be wrong.
   */
  readonly reason: keyof typeof MESSAGES;

  constructor(request: string, reason: keyof typeof MESSAGES, mayHaveHappened: boolean, cause?: unknown) {
    super(`${request}: ${MESSAGES[reason]}`, mayHaveHappened, { cause });
    this.reason = reason;
  }
}

const MESSAGES = {
  network: 'the service is unreachable, or the connection broke',
  timeout: 'no response within the timeout',
  unreadable: 'the response is not one of this service',
};
