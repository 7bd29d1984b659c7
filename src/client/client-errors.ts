/**
 * Why a call failed: what every error of the client is, besides the reason of a signal that the caller has aborted and
 * `TypeError` for arguments that cannot be.
 */
export abstract class BookkeepingError extends Error {
  /**
   * Whether the call may have changed books nevertheless: a write that was not answered, or with a status of 5xx, in
   * this attempt or an earlier one. Where it is false, nothing has changed.
   */
  readonly mayHaveHappened: boolean;

  protected constructor(message: string, mayHaveHappened: boolean, options?: ErrorOptions) {
    super(message, options);
    this.mayHaveHappened = mayHaveHappened;
  }
}

/** The service has answered, and refuses. `message` is its own, to the letter: the README of the service lists them. */
export class RefusedError extends BookkeepingError {
  override readonly name = 'RefusedError';
  /** The status of HTTP (RFC 9110, section 15). */
  readonly status: number;
  /** When to try again, if the service has said so: with 429 and 503. */
  readonly retryAfterSeconds: number | undefined;
  /** Which of many books is the first that the service cannot read, counted from 0: with 400 of `createMany`. */
  readonly invalidIndex: number | undefined;

  constructor(answer: Refusal) {
    super(answer.message, answer.isInDoubt);
    this.status = answer.status;
    this.retryAfterSeconds = answer.retryAfterSeconds;
    this.invalidIndex = answer.invalidIndex;
  }
}

/** What a {@link RefusedError} is made of. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly isInDoubt: boolean;
  readonly retryAfterSeconds: number | undefined;
  readonly invalidIndex: number | undefined;
}

/** No answer of the service came. `cause` is the error of `fetch` where there is one. */
export class NoAnswerError extends BookkeepingError {
  override readonly name = 'NoAnswerError';
  /**
   * - `network`: the service cannot be reached, the connection broke, or a browser may not read the answer (CORS);
   * - `timeout`: the answer did not come in time;
   * - `unreadable`: what came is not an answer of this service, so the address may be another's.
   */
  readonly reason: NoAnswerReason;

  constructor(request: string, reason: NoAnswerReason, mayHaveHappened: boolean, cause?: unknown) {
    super(`${request}: ${COMPLAINTS[reason]}`, mayHaveHappened, { cause });
    this.reason = reason;
  }
}

type NoAnswerReason = 'network' | 'timeout' | 'unreadable';

const COMPLAINTS: Readonly<Record<NoAnswerReason, string>> = {
  network: 'the service cannot be reached, or the connection broke',
  timeout: 'no answer came in time',
  unreadable: 'the answer is not one of the service',
};
