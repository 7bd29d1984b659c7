import type { RefusalName } from './operations.ts';

/** When each refusal comes, in CommonMark: for `/openapi.json`, and for README, which is held to it. */
export const REASONS: Readonly<Record<RefusalName, string>> = {
  invalidRequestPayload: 'the body of `POST /token` cannot be read',
  invalidInput:
    'the body of `POST /book` or `PUT /book/{id}` cannot be read as a book, or that of `POST /books` as books: `Invalid-Index` says which is none',
  invalidQuery:
    'a parameter of `GET /books` has a wrong value or comes twice, or a cursor belongs to another `sort`',
  preconditionFailed: '`If-Match`, and the book has changed; nothing is done',
  invalidIdempotencyKey: 'the `Idempotency-Key` of `POST /book` is empty, too long or malformed',
  idempotencyKeyReused: 'the `Idempotency-Key` of `POST /book` has created another book within 24 hours',
  badRequest:
    'the HTTP itself is malformed, of another version than 1.0 and 1.1, or has not exactly one `Host`',
  tokenRequired: 'there is no token',
  invalidToken: 'the token is malformed, wrongly signed or expired',
  invalidCredentials: '`POST /token` with another username or password',
  bookNotFound: 'no book has this id, also on `DELETE`; comes before a bad body',
  notFound: 'there is no such path; paths are exact, and need no token to be refused',
  methodNotAllowed: 'the path exists, but not for this method; see `Allow`',
  requestTimeout: 'the request did not arrive in time; see `REQUEST_TIMEOUT_SECONDS`',
  payloadTooLarge: 'the body is longer than 1 MiB, that of `POST /books` than 16 MiB',
  expectationFailed: 'an `Expect` other than `100-continue`',
  tooManyRequests:
    '`POST /token` after 100 failed logins from one address within a minute; see `Retry-After`',
  headersTooLarge: 'the head of the request is longer than 16 KiB',
  tokenNotGenerated: 'the token cannot be signed',
  internalError: 'a defect of the service; the log has its stack',
  serviceUnavailable:
    'the store is away or full, or there are too many requests, long bodies or connections at once, or `GET /readyz` comes while the service is stopping; see `Retry-After`',
};
